"""Markets: players put something up for sale, others take the cheapest offers. Nothing is lost but the fee.

Each player has at most one offer in a market; what is put up later is added to it, and the price is that of the last time.
The offers of a market are a heap in `queues`, the cheapest first, of two at one price the older.
What is offered is out of the player's hands until it is sold or goes back. Nobody buys past an offer of his own.
"""

from __future__ import annotations

from tocsin.formula import evaluate, floor
from tocsin.models.economy import world as w
from tocsin.models.economy.world import Activity, Economy, Market, Offer

_WORD = 4294967296.0
MOST_PRICE = 1e15


def add_flow(world: Economy, flow: int, amount: float) -> None:
    """Count a whole amount, in two words."""
    high = int(amount / _WORD)
    world.flows[world.day, flow, 0] += int(amount - float(high) * _WORD)
    world.flows[world.day, flow, 1] += high


def room(world: Economy, number: int, row: int) -> float:
    """Return how much more of a resource a player can hold."""
    stock = world.stocks[number]
    cap = w.MOST
    if stock.cap >= 0:
        cap = min(cap, floor(evaluate(world, stock.cap, row)))
    return max(0.0, cap - world.own[row, stock.column])


def offer_of(world: Economy, number: int, row: int) -> Offer:
    """Return what a player offers in a market."""
    return world.offers[number * len(world.players) + row]


def on_offer(world: Economy, stock: int, row: int) -> float:
    """Return how much of a resource a player has on offer."""
    total = 0.0
    for m in range(len(world.markets)):
        if world.markets[m].item == stock:
            total += offer_of(world, m, row).amount
    return total


def can_sell(world: Economy, row: int, activity: Activity) -> bool:
    """Whether there is something to put up."""
    held = world.own[row, world.stocks[world.markets[activity.sell].item].column]
    return min(held, evaluate(world, activity.amount, row)) >= 1.0


def can_buy(world: Economy, row: int, activity: Activity) -> bool:
    """Whether the cheapest offer is of another player, within the limit, and payable; and there is room for one."""
    market = world.markets[activity.buy]
    if market.n_offers == 0 or world.queues[activity.buy, 0] == row:
        return False
    price = world.shared[market.entry + 1]
    held = world.own[row, world.stocks[market.money].column]
    if price > held or price > limit_of(world, row, activity) or evaluate(world, activity.amount, row) < 1.0:
        return False
    return room(world, market.item, row) >= 1.0


def limit_of(world: Economy, row: int, activity: Activity) -> float:
    """Return the price of one that an activity asks or pays at most: a whole number >= 1."""
    return max(1.0, min(floor(evaluate(world, activity.price, row)), MOST_PRICE))


def sell(world: Economy, row: int, activity: Activity) -> None:
    """Put something up for sale; what is on offer already goes to the new price too."""
    m = activity.sell
    market = world.markets[m]
    column = world.stocks[market.item].column
    amount = floor(max(0.0, min(world.own[row, column], evaluate(world, activity.amount, row))))
    if amount < 1.0:
        return
    offer = offer_of(world, m, row)
    if offer.place >= 0:
        leave(world, m, row)
    world.own[row, column] -= amount
    offer.amount += amount
    offer.price = limit_of(world, row, activity)
    offer.number = world.n_offered
    offer.day = int(world.day)
    world.n_offered += 1
    world.queues[m, market.n_offers] = row
    offer.place = market.n_offers
    market.n_offers += 1
    rise(world, m, offer.place)
    post(world, m, amount)


def buy(world: Economy, row: int, activity: Activity) -> None:
    """Take the cheapest offers within the limit, while there is money and room."""
    m = activity.buy
    market = world.markets[m]
    limit = limit_of(world, row, activity)
    left = min(floor(evaluate(world, activity.amount, row)), room(world, market.item, row))
    item = world.stocks[market.item].column
    money = world.stocks[market.money].column
    while left >= 1.0 and market.n_offers > 0:
        seller = int(world.queues[m, 0])
        offer = offer_of(world, m, seller)
        if seller == row or offer.price > limit:
            break
        n = min(min(left, offer.amount), floor(world.own[row, money] / offer.price))
        if n * offer.price > world.own[row, money]:
            n -= 1.0  # the quotient was rounded up
        if n < 1.0:
            break
        paid = n * offer.price
        world.own[row, money] -= paid
        world.own[row, item] += n
        left -= n
        pay_seller(world, market, seller, paid)
        count_sale(world, m, n, paid, offer.price)
        offer.amount -= n
        if offer.amount <= 0.0:
            leave(world, m, seller)
        post(world, m, 0.0 - n)


def pay_seller(world: Economy, market: Market, seller: int, paid: float) -> None:
    """Give the seller what is paid, less the fee and what passes the cap: those are lost."""
    kept = min(floor(paid * (1.0 - market.fee)), room(world, market.money, seller))
    world.own[seller, world.stocks[market.money].column] += kept
    add_flow(world, market.fee_flow, paid - kept)


def count_sale(world: Economy, m: int, n: float, paid: float, price: float) -> None:
    """Count a sale of the open day, amounts in two words; its price is the market's."""
    day = int(world.day)
    world.traded[day, m, 0] += 1
    high = int(n / _WORD)
    world.traded[day, m, 1] += int(n - float(high) * _WORD)
    world.traded[day, m, 2] += high
    high = int(paid / _WORD)
    world.traded[day, m, 3] += int(paid - float(high) * _WORD)
    world.traded[day, m, 4] += high
    world.shared[world.markets[m].entry] = price


def post(world: Economy, m: int, change: float) -> None:
    """Say what is on offer, and the cheapest price, in what formulas read."""
    market = world.markets[m]
    world.shared[market.entry + 2] += change
    cheapest = 0.0
    if market.n_offers > 0:
        cheapest = offer_of(world, m, int(world.queues[m, 0])).price
    world.shared[market.entry + 1] = cheapest


def close_day(world: Economy) -> None:
    """At the end of a day give back what was not sold in time, and note what is on offer."""
    day = int(world.day)
    for m in range(len(world.markets)):
        market = world.markets[m]
        for row in range(len(world.players)):
            offer = offer_of(world, m, row)
            if offer.place >= 0 and day + 1 - offer.day >= market.days:
                leave(world, m, row)
                back = min(offer.amount, room(world, market.item, row))
                world.own[row, world.stocks[market.item].column] += back
                add_flow(world, market.lost_flow, offer.amount - back)
                post(world, m, 0.0 - offer.amount)
                offer.amount = 0.0
        world.traded[day, m, 5] = int(world.shared[market.entry + 2])
        world.traded[day, m, 6] = int(world.shared[market.entry])


def leave(world: Economy, m: int, row: int) -> None:
    """Take an offer out of the queue."""
    market = world.markets[m]
    offer = offer_of(world, m, row)
    place = offer.place
    offer.place = -1
    market.n_offers -= 1
    last = int(world.queues[m, market.n_offers])
    if last != row:
        world.queues[m, place] = last
        offer_of(world, m, last).place = place
        rise(world, m, place)
        sink(world, m, offer_of(world, m, last).place)


def is_before(world: Economy, m: int, one: int, other: int) -> bool:
    """Whether one player's offer is taken before another's."""
    a = offer_of(world, m, one)
    b = offer_of(world, m, other)
    return a.price < b.price or (a.price == b.price and a.number < b.number)


def rise(world: Economy, m: int, place: int) -> None:
    """Move an offer towards the front until none behind it is cheaper."""
    while place > 0:
        above = (place - 1) // 2
        if not is_before(world, m, int(world.queues[m, place]), int(world.queues[m, above])):
            return
        swap(world, m, place, above)
        place = above


def sink(world: Economy, m: int, place: int) -> None:
    """Move an offer away from the front until none behind it is cheaper."""
    n = world.markets[m].n_offers
    while 2 * place + 1 < n:
        below = 2 * place + 1
        if below + 1 < n and is_before(world, m, int(world.queues[m, below + 1]), int(world.queues[m, below])):
            below += 1
        if not is_before(world, m, int(world.queues[m, below]), int(world.queues[m, place])):
            return
        swap(world, m, place, below)
        place = below


def swap(world: Economy, m: int, one: int, other: int) -> None:
    """Let two offers change places."""
    a = int(world.queues[m, one])
    b = int(world.queues[m, other])
    world.queues[m, one] = b
    world.queues[m, other] = a
    offer_of(world, m, a).place = other
    offer_of(world, m, b).place = one

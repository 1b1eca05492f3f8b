"""What a robot sees when it looks, in its own frame: what an algorithm is given."""

from __future__ import annotations

import math

from tocsin.models.swarm import sight
from tocsin.models.swarm.circle import enclosing_circle, smallest_circle
from tocsin.models.swarm.rim import circle_of_all
from tocsin.schema import Entity, boolean, float64, int32


class View(Entity):
    """A snapshot of the robots in sight, and of the robot that looks, which stands at (0, 0).

    Entries 0 .. n - 1 are the robots in sight, the one that looks among them (`me`); without or with weak
    multiplicity detection, the points where robots stand. Coordinates are in the robot's own frame:
    its own turn, unit of length and handedness, if the swarm has private frames. The order of entries means nothing.
    """

    who: int32
    now: float64
    n_seen: int32  # -1 before it has looked
    own: int32  # entry of the robot itself
    named: int32  # the entry that the algorithm named as target, -1 for none
    named_x: float64
    named_y: float64
    lit: int32  # the colour that the algorithm has set
    centre_x: float64  # the circle that it computed
    centre_y: float64
    radius: float64
    has_circle: boolean

    def open(self, who: int, now: float) -> None:
        """Begin a look; nothing is gathered until the algorithm asks."""
        self.who = who
        self.now = now
        self.n_seen = -1
        self.named = -1
        self.has_circle = False
        self.lit = self._world.robots[who].light

    @property
    def n(self) -> int:
        """How many entries there are, the robot itself among them."""
        if self.n_seen < 0:
            sight.gather(self._world, self)
        return self.n_seen

    @property
    def me(self) -> int:
        """The entry that is the robot itself."""
        if self.n_seen < 0:
            sight.gather(self._world, self)
        return self.own

    def x(self, k: int) -> float:
        """x of entry k."""
        return self.point(k)[0]

    def y(self, k: int) -> float:
        """y of entry k."""
        return self.point(k)[1]

    def point(self, k: int) -> tuple[float, float]:
        """Where entry k is."""
        if self.n_seen < 0:
            sight.gather(self._world, self)
        return self.local(self._world.at_x[k], self._world.at_y[k])

    def distance(self, k: int) -> float:
        """How far away entry k is."""
        x, y = self.point(k)
        return math.sqrt(x * x + y * y)

    def to(self, k: int) -> tuple[float, float]:
        """Where entry k is, as a target: a robot that is sent there arrives on the very point."""
        x, y = self.point(k)
        self.named = k
        self.named_x = x
        self.named_y = y
        return x, y

    def stay(self) -> tuple[float, float]:
        """The robot's own place, as a target."""
        return 0.0, 0.0

    def count(self, k: int) -> int:
        """How many robots stand at entry k, the one counted: strong multiplicity detection only, else 1."""
        return sight.count_at(self._world, self.n, k) if self._world.multiplicity == sight.STRONG else 1

    def is_many(self, k: int) -> bool:
        """Whether more than one robot stands at entry k; False without multiplicity detection."""
        if self._world.multiplicity == sight.WEAK:
            return bool(self._world.many[k] > 1)
        return self.count(k) > 1

    def light(self, k: int) -> int:
        """The colour of entry k's light; 0 unless it has set another."""
        return sight.light_of(self._world, k, self.now)

    @property
    def my_light(self) -> int:
        """The colour of the robot's own light."""
        return int(self._world.robots[self.who].light)

    def set_light(self, colour: int) -> None:
        """Set the robot's own light, seen by others from now on."""
        self.lit = colour

    @property
    def task(self) -> int:
        """The number of the task that the robot was given."""
        return int(self._world.robots[self.who].task)

    @property
    def scale(self) -> float:
        """Own units in one unit of the plane."""
        return float(self._world.robots[self.who].frame_scale)

    @property
    def visibility(self) -> float:
        """How far the robot sees, in its own unit; inf without limit."""
        reach = self._world.rules.visibility
        return math.inf if reach == 0.0 else reach * self.scale

    @property
    def tolerance(self) -> float:
        """A target nearer than this is no move, in the robot's own unit."""
        return float(self._world.rules.tolerance) * self.scale

    def centroid(self) -> tuple[float, float]:
        """Centre of gravity of all in sight. Cost O(1) if all see all, else O(n)."""
        world = self._world
        if sight.sees_all(world):
            x, y = sight.mean_of_all(world, self.now)
            return self.local(x, y)
        x, y = 0.0, 0.0
        for k in range(self.n):
            x += world.at_x[k]
            y += world.at_y[k]
        return self.local(x / self.n_seen, y / self.n_seen)

    def circle(self) -> tuple[float, float, float]:
        """Smallest circle around all in sight: (x, y, radius). Cost O(n), ten times over; little if all see all."""
        world = self._world
        if sight.sees_all(world):
            x, y, radius = circle_of_all(world, self)
        elif self.n == len(world.robots):  # those that carried the last circle are a good start
            a, b, c = world.carrier_a, world.carrier_b, world.carrier_c
            x, y, radius, a, b, c = enclosing_circle(world.at_x, world.at_y, self.n, a, b, c)
            world.carrier_a = a
            world.carrier_b = b
            world.carrier_c = c
        else:
            x, y, radius = smallest_circle(world.at_x, world.at_y, self.n)
        self.keep_circle(x, y, radius)
        own_x, own_y = self.local(x, y)
        return own_x, own_y, radius * self.scale

    def keep_circle(self, x: float, y: float, radius: float) -> None:
        """Remember a circle of the plane, for pictures."""
        self.centre_x = x
        self.centre_y = y
        self.radius = radius
        self.has_circle = True

    def box(self) -> tuple[float, float, float, float]:
        """The world's box, or the box of all in sight and 15 % around it: (x0, x1, y0, y1). Shared axes only."""
        world, robot = self._world, self._world.robots[self.who]
        if world.box_x > 0.0:
            half_x, half_y = world.box_x / 2.0, world.box_y / 2.0
            return -half_x - robot.x, half_x - robot.x, -half_y - robot.y, half_y - robot.y
        x0, x1, y0, y1 = 0.0, 0.0, 0.0, 0.0
        for k in range(self.n):
            x, y = self.point(k)
            x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
        pad = 0.15 * max(x1 - x0, y1 - y0)
        return x0 - pad, x1 + pad, y0 - pad, y1 + pad

    def local(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the plane in the robot's own frame."""
        robot = self._world.robots[self.who]
        dx, dy = x - robot.x, y - robot.y
        if not self._world.has_frames:
            return dx, dy
        dy = robot.frame_mirror * dy
        own_x = robot.frame_scale * (robot.frame_cos * dx - robot.frame_sin * dy)
        return own_x, robot.frame_scale * (robot.frame_sin * dx + robot.frame_cos * dy)

    def plane(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the robot's own frame in the plane; the very point that it named, if it did."""
        robot = self._world.robots[self.who]
        if self.named >= 0 and x == self.named_x and y == self.named_y:
            return self._world.at_x[self.named], self._world.at_y[self.named]
        if not self._world.has_frames:
            return robot.x + x, robot.y + y
        x, y = x / robot.frame_scale, y / robot.frame_scale
        dx = robot.frame_cos * x + robot.frame_sin * y
        dy = robot.frame_cos * y - robot.frame_sin * x
        return robot.x + dx, robot.y + robot.frame_mirror * dy

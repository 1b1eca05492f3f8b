"""The window: a live page of any model, which runs its own WebAssembly."""

from tocsin.view._page import page_of
from tocsin.view._widget import widget_of

__all__ = ["page_of", "widget_of"]

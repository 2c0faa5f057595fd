"""The small world that the lessons' tools look into: an encyclopedia, weather, a calculator and a shop's orders."""

from .calculator import calculator
from .encyclopedia import search
from .orders import Orders
from .weather import weather

__all__ = ["Orders", "calculator", "search", "weather"]

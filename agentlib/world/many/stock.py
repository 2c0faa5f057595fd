"""Tools on what the shop sells. Prices and sales come from the shop's database, the stock is fixed."""

from ..orders import Orders
from ..records import fold
from ..shop import euros

_AT_FIRST = 25  # of each item, before any order


class Stock:
    """What the shop sells, as its tools see it."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders

    def item_price(self, item: str) -> str:
        """Say how much an item of the shop costs, its price.

        Args:
            item: The name of the item, for example "desk lamp".
        """
        name, cents = self._item(item)
        return f"One {name} costs {euros(cents)}."

    def in_stock(self, item: str) -> str:
        """Say how many of an item of the shop are left in stock.

        Args:
            item: The name of the item, for example "umbrella".
        """
        name, _ = self._item(item)
        ((sold,),) = self.orders.query("SELECT coalesce(sum(quantity), 0) FROM order_lines JOIN orders ON id = order_id"
                                       " WHERE item = ? AND status <> 'cancelled'", name)
        return f"{max(0, _AT_FIRST - sold)} of {name} are in stock."

    def _item(self, wanted: str) -> tuple[str, int]:
        """Give the name and the price of an item; raise ValueError if there is none, or it may be several."""
        rows = self.orders.query("SELECT name, cents FROM items ORDER BY name")
        said = fold(wanted).strip()
        found = [row for row in rows if said and (row[0] == said or row[0] == said.removesuffix("s"))]
        if len(found) != 1:
            raise ValueError(f"there is no item {wanted!r}; the shop has {', '.join(name for name, _ in rows)}")
        return found[0]

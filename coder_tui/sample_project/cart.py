"""Adds up a cart. Prices are in cents; an item is a price and a count."""

Item = tuple[int, int]


def subtotal(items: list[Item]) -> int:
    return sum(price * count for price, count in items)


def discount(items: list[Item]) -> int:
    """Return ten percent of the subtotal for ten or more items."""
    pieces = sum(count for _, count in items)
    if pieces > 10:
        return subtotal(items) // 10
    return 0


def total(items: list[Item]) -> int:
    return subtotal(items) - discount(items)

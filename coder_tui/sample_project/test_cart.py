import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_an_empty_cart_costs_nothing(self) -> None:
        self.assertEqual(total([]), 0)

    def test_nine_pieces_cost_their_price(self) -> None:
        self.assertEqual(total([(100, 9)]), 900)

    def test_ten_pieces_get_the_discount(self) -> None:
        self.assertEqual(total([(100, 10)]), 900)


if __name__ == "__main__":
    unittest.main()

"""Answers, and who reads or hears of them."""

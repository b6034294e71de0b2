"""Rules that find relations in the words of questions: each takes the readings of all rows and gives proposals."""

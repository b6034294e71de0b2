"""What an answer leaves open about another event or conditional."""

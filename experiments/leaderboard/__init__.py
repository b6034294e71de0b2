"""Any method on any panel, scored in the same way: docs/leaderboard.md has the format of a folder."""

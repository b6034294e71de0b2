"""The evidence: the experiments of the paper, and real panels."""

"""A checker of proofs that stands alone: the standard library, integers and fractions, nothing else of the package.

The claim that it decides is about a panel, its laws and a result: *the stated mixture of worlds obeys the laws (and
the pins to 1e-9), it loses at most U, and no mixture of possible worlds that keeps the pins loses less than L.* It
computes U and L itself. The proof file has neither: every number in it is a hint (where to touch a loss, in which order
to eliminate variables), and each rule holds for every value of its hints. So a proof can be too weak, never wrong.

`python -m coherently.proofcheck PANEL RESULT --proof FILE` runs it, and so does `python -m proofcheck` in a place that
this folder was copied to. The way of thought, in the order of reading:

    doubles           the one module with floating point: the numbers of a panel's canonical form, and one hint
    numbers           decimals, logarithms and roots as fractions with stated errors
    language          event texts into programs for a stack machine, declarations and statements of laws
    truth_functions   variables with finite domains, Boolean functions as tables or counts
    forecast_files    CSV and JSON lines into forecasts, and their canonical form with its digest
    posed_panel       terms (merged forecasts), laws and pins; conditionals that logic settles
    loss_planes       R1: planes below the losses, and what a mixture loses
    leaves            R5 elimination, R6 clusters and messages, R7 semidefinite forms: integers below a sum
    proof_records     the file, R2 pins, R3 worlds, R4 splits: the bound of each component, and their sum L
    claimed_mixture   the result: its worlds obey laws and pins, and lose U
    stated_claims     other claims: bounds, savings, books and distances
    proof_verdict     proved, weak or refused
"""

from .proof_verdict import ProofLimits, ProofVerdict, check, check_files

__all__ = ["ProofLimits", "ProofVerdict", "check", "check_files"]

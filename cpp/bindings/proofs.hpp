// Proofs about worlds, the same for everything that has an oracle.
#pragma once

#include <limits>

#include "arrays.hpp"
#include "coherently/deadline.hpp"
#include "coherently/worlds/oracle.hpp"
#include "functions.hpp"

namespace coherently::bindings {

inline const char* word_of(Proof::Outcome outcome) {
    if (outcome == Proof::Outcome::better) return "better";
    return outcome == Proof::Outcome::proved ? "proved" : "unfinished";
}

// The owner's `oracle()` is a WorldOracle.
template <typename Owner>
void bind_proofs(nb::class_<Owner>& bound) {
    bound.def("can_prove", [](Owner& owner) { return owner.oracle().proof().is_possible(); })
        .def("raise_fines", [](Owner& owner) { owner.oracle().proof().raise(); })
        .def(
            "start_proof",
            [](Owner& owner, double cutoff, double seconds, std::size_t open) {
                nb::gil_scoped_release release;
                owner.oracle().proof().start(cutoff, seconds, open);
            },
            nb::arg("cutoff"), nb::arg("seconds") = 0.0, nb::arg("open_nodes") = DiagonalBound::most_open)
        .def(
            "prove",
            [](Owner& owner, double seconds, std::size_t nodes) {
                nb::gil_scoped_release release;
                return word_of(owner.oracle().proof().run(after(seconds), nodes));
            },
            nb::arg("seconds"), nb::arg("nodes") = std::numeric_limits<std::size_t>::max())
        .def("bound", [](Owner& owner) { return owner.oracle().proof().bound(); })
        .def("better", [](Owner& owner) {
            WorldOracle& oracle = owner.oracle();
            return stack(oracle.proof().better(), oracle.energy().n_variables());
        });
}

}  // namespace coherently::bindings

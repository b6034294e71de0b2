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

// The bytes of the tree, where forms belong in it, the signs that are fixed at each form (one row per form), and the
// diagonals of the forms, one after the other; None if no whole tree was kept.
inline nb::object kept_tree(const Proof& proof) {
    const SignTree* tree = proof.tree();
    if (!tree) return nb::none();
    SignTree::Written written;
    {
        nb::gil_scoped_release release;
        written = tree->written();
    }
    std::vector<std::int8_t> fixed;
    std::vector<double> y;
    for (const std::int32_t which : written.form) {
        const SignTree::Form& form = tree->forms()[static_cast<std::size_t>(which)];
        fixed.insert(fixed.end(), form.fixed.begin(), form.fixed.end());
        y.insert(y.end(), form.y.begin(), form.y.end());
    }
    const std::size_t count = written.forms.size(), n = fixed.size() / count;
    const nb::bytes bytes(reinterpret_cast<const char*>(written.bytes.data()), written.bytes.size());
    return nb::make_tuple(bytes, give(std::move(written.forms)), give(std::move(fixed), {count, n}),
                          give(std::move(y)));
}

// What broken rules cost: two variables, the second -1 if there is one, a table and a factor each.
inline nb::list fines(const Proof& proof) {
    nb::list found;
    if (proof.priced())
        for (const auto& one : proof.priced()->fines())
            found.append(nb::make_tuple(one.first, one.second, one.table, one.amount));
    return found;
}

// The owner's `oracle()` is a WorldOracle.
template <typename Owner>
void bind_proofs(nb::class_<Owner>& bound) {
    bound.def("can_prove", [](Owner& owner) { return owner.oracle().proof().is_possible(); })
        .def("raise_fines", [](Owner& owner) { owner.oracle().proof().raise(); })
        .def(
            "start_proof",
            [](Owner& owner, double cutoff, double seconds, std::size_t open, bool keep) {
                nb::gil_scoped_release release;
                owner.oracle().proof().start(cutoff, seconds, open, keep);
            },
            nb::arg("cutoff"), nb::arg("seconds") = 0.0, nb::arg("open_nodes") = DiagonalBound::most_open,
            nb::arg("keep") = false)
        .def("kept_tree", [](Owner& owner) { return kept_tree(owner.oracle().proof()); })
        .def("fines", [](Owner& owner) { return fines(owner.oracle().proof()); })
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

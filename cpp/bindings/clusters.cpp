#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <utility>

#include "coherently/worlds/clusters/cluster_proof.hpp"
#include "functions.hpp"

namespace coherently::bindings {
namespace {

class Proving {
public:
    Proving(SharedFunctions functions, std::shared_ptr<Space> space, double cells, double elimination)
        : functions_(std::move(functions)),
          space_((check_space(space.get(), functions_->n_variables), std::move(space))),
          proof_(functions_->view(), space_.get(), cells, elimination) {}

    void start(Vector<double> coefficients, Vector<std::uint8_t> known, double slack, bool keep) {
        if (coefficients.size() != functions_->size() || known.size() != functions_->n_variables)
            throw nb::value_error("arrays differ in length");
        proof_.start(view(coefficients), copy(known), slack, keep);
    }
    ClusterProof& proof() { return proof_; }
    std::size_t n_variables() const { return functions_->n_variables; }

private:
    SharedFunctions functions_;
    std::shared_ptr<Space> space_;
    ClusterProof proof_;
};

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// The tree in preorder as flat arrays: one row per branch (the node that it splits, -1 for messages and -2 for an
// elimination; the shift; the numbers of messages, and of nodes of its order), one row per message (two clusters, the
// numbers of nodes and of values), and the nodes and values of all of them, one after the other.
nb::object tree_of(const ClusterProof& proof) {
    const auto& tree = proof.tree();
    if (tree.empty()) return nb::none();
    std::vector<std::int64_t> branches, values;
    std::vector<std::int32_t> messages, nodes, orders, sizes, clusters;
    for (const Scope& scope : proof.graph().clusters)
        sizes.push_back(static_cast<std::int32_t>(scope.size())), append(clusters, scope);
    std::vector<std::int32_t> waiting{0};
    while (!waiting.empty()) {
        const ClusterProof::Branch& branch = tree[static_cast<std::size_t>(waiting.back())];
        waiting.pop_back();
        waiting.insert(waiting.end(), branch.children.rbegin(), branch.children.rend());
        branches.insert(branches.end(), {branch.is_eliminated ? -2 : branch.node, branch.shift,
                                         static_cast<std::int64_t>(branch.messages.size()),
                                         static_cast<std::int64_t>(branch.order.size())});
        append(orders, branch.order);
        for (const auto& message : branch.messages) {
            messages.insert(messages.end(), {message.a, message.b, static_cast<std::int32_t>(message.scope.size()),
                                             static_cast<std::int32_t>(message.values.size())});
            append(nodes, message.scope);
            for (const double value : message.values) values.push_back(static_cast<std::int64_t>(value));
        }
    }
    const std::size_t n_branches = branches.size() / 4, n_messages = messages.size() / 4;
    return nb::make_tuple(give(std::move(sizes)), give(std::move(clusters)), give(std::move(branches), {n_branches, 4}),
                          give(std::move(orders)), give(std::move(messages), {n_messages, 4}), give(std::move(nodes)),
                          give(std::move(values)));
}

}  // namespace

void bind_clusters(nb::module_& module) {
    module.def("sum_below", &sum_below, nb::arg("a"), nb::arg("b"));
    nb::class_<Proving>(module, "ClusterProof")
        .def(nb::init<SharedFunctions, std::shared_ptr<Space>, double, double>(), nb::arg("functions"),
             nb::arg("space").none() = nb::none(), nb::arg("cells") = ClusterProof::most_cells,
             nb::arg("elimination") = ClusterProof::elimination_cells)
        .def("start", &Proving::start, nb::arg("coefficients"), nb::arg("known"), nb::arg("slack"), nb::arg("keep"))
        .def(
            "run",
            [](Proving& own, std::size_t nodes, bool hasty) {
                nb::gil_scoped_release release;
                return own.proof().run(nodes, hasty);
            },
            nb::arg("nodes"), nb::arg("hasty"))
        .def("stop", [](Proving& own) { own.proof().stop(); })
        .def("bound", [](Proving& own) { return own.proof().bound(); })
        .def("nodes", [](Proving& own) { return own.proof().nodes(); })
        .def("unit", [](Proving& own) { return own.proof().unit(); })
        .def("better", [](Proving& own) { return stack(own.proof().better(), own.n_variables()); })
        .def("tree", [](Proving& own) { return tree_of(own.proof()); });
}

}  // namespace coherently::bindings

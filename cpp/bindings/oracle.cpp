#include "coherently/worlds/oracle.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <utility>

#include "coherently/worlds/elimination/elimination.hpp"
#include "functions.hpp"
#include "proofs.hpp"

namespace coherently::bindings {
namespace {

class Oracle {
public:
    Oracle(SharedFunctions functions, std::uint64_t seed, std::shared_ptr<Space> space)
        : functions_(std::move(functions)),
          space_((check_space(space.get(), functions_->n_variables), std::move(space))),
          oracle_(functions_->view(), space_.get(), seed, seed) {
        oracle_.set(std::vector<double>(functions_->size()));
    }

    void set(Vector<double> coefficients) {
        if (coefficients.size() != functions_->size()) throw nb::value_error("arrays differ in length");
        oracle_.set(view(coefficients));
    }
    double value(Vector<std::uint8_t> world) const {
        if (world.size() != functions_->n_variables) throw nb::value_error("arrays differ in length");
        return oracle_.energy().value(copy(world));
    }
    NewArray<std::uint8_t> search(std::size_t attempts, double seconds) {
        World best;
        {
            nb::gil_scoped_release release;
            best = oracle_.search(attempts, after(seconds));
        }
        return give(std::move(best));
    }
    NewArray<std::uint8_t> eliminate() {
        World world;
        {
            nb::gil_scoped_release release;
            world = oracle_.elimination().minimise(oracle_.energy().coefficients());
        }
        return give(std::move(world));
    }
    WorldOracle& oracle() { return oracle_; }

private:
    SharedFunctions functions_;
    std::shared_ptr<Space> space_;
    WorldOracle oracle_;
};

}  // namespace

void bind_oracle(nb::module_& module) {
    nb::class_<Oracle> oracle(module, "WorldOracle");
    oracle
        .def(nb::init<SharedFunctions, std::uint64_t, std::shared_ptr<Space>>(), nb::arg("functions"), nb::arg("seed"),
             nb::arg("space").none() = nb::none())
        .def("set", &Oracle::set, nb::arg("coefficients"))
        .def("value", &Oracle::value, nb::arg("world"))
        .def("search", &Oracle::search, nb::arg("attempts"), nb::arg("seconds"))
        .def("eliminate", &Oracle::eliminate);
    bind_proofs(oracle);
    module.def(
        "elimination_cost",
        [](const FunctionsHandle& functions, double limit, std::shared_ptr<Space> space) {
            const EliminationCost cost = Elimination::cost(functions.view(), space.get(), limit);
            return std::pair(cost.entries, cost.counts);
        },
        nb::arg("functions"), nb::arg("limit"), nb::arg("space").none() = nb::none());
}

}  // namespace coherently::bindings

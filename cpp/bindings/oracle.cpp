#include "coherently/worlds/oracle.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <memory>

#include "coherently/worlds/elimination/elimination.hpp"
#include "owned_events.hpp"
#include "proofs.hpp"

namespace coherently::bindings {
namespace {

class Oracle {
public:
    Oracle(std::size_t n, Vector<std::int64_t> starts, Vector<std::int32_t> variables, Vector<std::int64_t> word_starts,
           Vector<std::uint64_t> words, std::uint64_t seed, std::shared_ptr<Space> space)
        : events_(n, starts, variables, word_starts, words),
          space_((check_space(space.get(), n), std::move(space))),
          oracle_(events_.view(), space_.get(), seed, seed) {
        oracle_.set(std::vector<double>(events_.starts.size() - 1));
    }

    void set(Vector<double> coefficients) {
        if (coefficients.size() + 1 != events_.starts.size()) throw nb::value_error("arrays differ in length");
        oracle_.set(view(coefficients));
    }
    double value(Vector<std::uint8_t> world) const {
        if (world.size() != events_.n_variables) throw nb::value_error("arrays differ in length");
        return oracle_.energy().value(OwnedEvents::copy(world));
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
    OwnedEvents events_;
    std::shared_ptr<Space> space_;
    WorldOracle oracle_;
};

}  // namespace

void bind_oracle(nb::module_& module) {
    nb::class_<Oracle> oracle(module, "WorldOracle");
    oracle
        .def(nb::init<std::size_t, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                      Vector<std::uint64_t>, std::uint64_t, std::shared_ptr<Space>>(),
             nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"), nb::arg("word_starts"), nb::arg("words"),
             nb::arg("seed"), nb::arg("space").none() = nb::none())
        .def("set", &Oracle::set, nb::arg("coefficients"))
        .def("value", &Oracle::value, nb::arg("world"))
        .def("search", &Oracle::search, nb::arg("attempts"), nb::arg("seconds"))
        .def("eliminate", &Oracle::eliminate);
    bind_proofs(oracle);
    module.def(
        "evaluate_worlds",
        [](std::size_t n, Vector<std::int64_t> starts, Vector<std::int32_t> variables, Vector<std::int64_t> word_starts,
           Vector<std::uint64_t> words, Matrix<std::uint8_t> worlds) {
            const OwnedEvents events(n, starts, variables, word_starts, words);
            if (worlds.shape(1) != n) throw nb::value_error("arrays differ in length");
            const Energy energy(events.view());
            const std::size_t m = events.starts.size() - 1;
            std::vector<std::uint8_t> truth(worlds.shape(0) * m), bits((m + 7) / 8);
            for (std::size_t i = 0; i < worlds.shape(0); ++i) {
                energy.evaluate(World(worlds.data() + i * n, worlds.data() + (i + 1) * n), bits);
                for (std::size_t j = 0; j < m; ++j) truth[i * m + j] = bits[j / 8] >> (j % 8) & 1;
            }
            return give(std::move(truth), {worlds.shape(0), m});
        },
        nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"), nb::arg("word_starts"), nb::arg("words"),
        nb::arg("worlds"));
    module.def(
        "elimination_cost",
        [](std::size_t n, Vector<std::int64_t> starts, Vector<std::int32_t> variables, Vector<std::int64_t> word_starts,
           Vector<std::uint64_t> words, double limit, std::shared_ptr<Space> space) {
            const OwnedEvents events(n, starts, variables, word_starts, words);
            return Elimination::cost(events.view(), space.get(), limit);
        },
        nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"), nb::arg("word_starts"), nb::arg("words"),
        nb::arg("limit"), nb::arg("space").none() = nb::none());
}

}  // namespace coherently::bindings

#include "coherently/mixture/nearest.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "functions.hpp"
#include "proofs.hpp"

namespace coherently::bindings {
namespace {

class Nearest {
public:
    Nearest(SharedFunctions functions, Vector<double> weight, Vector<double> target, std::uint64_t seed,
            std::shared_ptr<Space> space)
        : functions_(std::move(functions)),
          space_(std::move(space)),
          weight_(copy(weight)),
          target_(copy(target)),
          nearest_((check(), functions_->view()), weight_, target_, seed, space_.get()) {}

    bool search(double seconds, int effort, double enough, double part, double goal) {
        nb::gil_scoped_release release;
        return nearest_.search(after(seconds), effort, enough, part, goal);
    }
    bool eliminate(double seconds, double goal) {
        nb::gil_scoped_release release;
        return nearest_.eliminate(after(seconds), goal);
    }
    bool offer(Vector<std::uint8_t> world) {
        if (world.size() != functions_->n_variables) throw nb::value_error("arrays differ in length");
        return nearest_.offer(copy(world));
    }
    void include(Matrix<std::uint8_t> worlds) {
        if (worlds.shape(1) != functions_->n_variables) throw nb::value_error("arrays differ in length");
        std::vector<World> rows;
        for (std::size_t i = 0; i < worlds.shape(0); ++i)
            rows.emplace_back(&worlds(i, 0), &worlds(i, 0) + worlds.shape(1));
        nb::gil_scoped_release release;
        nearest_.include(rows);
    }
    double energy(Vector<std::uint8_t> world) const {
        if (world.size() != functions_->n_variables) throw nb::value_error("arrays differ in length");
        return nearest_.oracle().energy().value(copy(world));
    }
    double objective() const { return nearest_.objective(); }
    void certify(double least) { nearest_.certify(least); }
    double lower_bound() const { return nearest_.lower_bound(); }
    double shortfall() const { return nearest_.shortfall(); }
    double level() const { return nearest_.level(); }
    NewArray<double> x() const { return give(std::vector<double>(nearest_.x())); }
    NewArray<double> gradient() const { return give(std::vector<double>(nearest_.gradient())); }
    NewArray<std::uint8_t> lowest() const { return give(std::vector<std::uint8_t>(nearest_.lowest())); }
    std::pair<NewArray<double>, NewArray<std::uint8_t>> worlds() const {
        const Mixture& mixture = nearest_.mixture();
        std::vector<double> shares;
        std::vector<std::uint8_t> truth;
        for (std::size_t i = 0; i < mixture.size(); ++i) {
            if (mixture.shares()[i] == 0) continue;
            shares.push_back(mixture.shares()[i]);
            truth.insert(truth.end(), mixture.world(i).begin(), mixture.world(i).end());
        }
        const std::size_t count = shares.size();
        return {give(std::move(shares)), give(std::move(truth), {count, functions_->n_variables})};
    }

    WorldOracle& oracle() { return nearest_.oracle(); }

private:
    void check() const {
        if (weight_.size() != functions_->size() || target_.size() != weight_.size())
            throw nb::value_error("arrays differ in length");
        check_space(space_.get(), functions_->n_variables);
    }

    SharedFunctions functions_;
    std::shared_ptr<Space> space_;
    std::vector<double> weight_, target_;
    NearestMixture nearest_;
};

}  // namespace

void bind_nearest(nb::module_& module) {
    nb::class_<Nearest> nearest(module, "NearestMixture");
    nearest
        .def(nb::init<SharedFunctions, Vector<double>, Vector<double>, std::uint64_t, std::shared_ptr<Space>>(),
             nb::arg("functions"), nb::arg("weight"), nb::arg("target"), nb::arg("seed"),
             nb::arg("space").none() = nb::none())
        .def("search", &Nearest::search, nb::arg("seconds"), nb::arg("effort") = NearestMixture::most_effort,
             nb::arg("enough") = 0.0, nb::arg("part") = 0.0, nb::arg("goal") = 0.0)
        .def("eliminate", &Nearest::eliminate, nb::arg("seconds"), nb::arg("goal") = 0.0)
        .def("offer", &Nearest::offer, nb::arg("world"))
        .def("include", &Nearest::include, nb::arg("worlds"))
        .def("energy", &Nearest::energy, nb::arg("world"))
        .def("objective", &Nearest::objective)
        .def("certify", &Nearest::certify, nb::arg("least"))
        .def("lower_bound", &Nearest::lower_bound)
        .def("shortfall", &Nearest::shortfall)
        .def("level", &Nearest::level)
        .def("x", &Nearest::x)
        .def("gradient", &Nearest::gradient)
        .def("lowest", &Nearest::lowest)
        .def("nodes", [](Nearest& nearest) { return nearest.oracle().proof().nodes(); })
        .def("worlds", &Nearest::worlds);
    bind_proofs(nearest);
}

}  // namespace coherently::bindings

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "coherently/functions/exclusions.hpp"
#include "coherently/mixture/answer_program.hpp"
#include "coherently/mixture/hull_point.hpp"

namespace coherently::bindings {
namespace {

using Truths = Matrix<std::uint8_t>;

std::vector<std::uint8_t> flat(const Truths& truth) { return {truth.data(), truth.data() + truth.size()}; }

class Answers {
public:
    Answers(const Truths& joint, const Truths& given, Vector<std::uint8_t> conditional, const Truths& pin_joint,
            const Truths& pin_given, Vector<double> pin_low, Vector<double> pin_high, Vector<std::uint8_t> root,
            Matrix<double> ties)
        : program_(states(joint, given, conditional, pin_joint, pin_given, pin_low, pin_high, root, ties)) {}

    NewArray<double> misses(Matrix<double> values, Vector<std::uint8_t> active, double enough) const {
        if (values.shape(1) != program_.items()) throw nb::value_error("arrays differ in length");
        check(active);
        std::vector<double> found;
        {
            nb::gil_scoped_release release;
            found = program_.misses({values.data(), values.size()}, view(active), enough);
        }
        return give(std::move(found));
    }

    NewArray<double> bounds(Vector<double> value, Vector<std::uint8_t> active, double slack,
                            Vector<std::int64_t> asked) const {
        if (value.size() != program_.items()) throw nb::value_error("arrays differ in length");
        check(active);
        for (const std::int64_t item : view(asked))
            if (item < 0 || item >= static_cast<std::int64_t>(program_.items())) throw nb::index_error("no such item");
        std::vector<double> found;
        {
            nb::gil_scoped_release release;
            found = program_.bounds(view(value), view(active), slack, view(asked));
        }
        return give(std::move(found), {asked.size(), 2});
    }

private:
    void check(const Vector<std::uint8_t>& active) const {
        if (active.size() != program_.items()) throw nb::value_error("arrays differ in length");
    }

    static AnswerStates states(const Truths& joint, const Truths& given, const Vector<std::uint8_t>& conditional,
                               const Truths& pin_joint, const Truths& pin_given, const Vector<double>& pin_low,
                               const Vector<double>& pin_high, const Vector<std::uint8_t>& root,
                               const Matrix<double>& ties) {
        AnswerStates of;
        of.states = joint.shape(0), of.items = joint.shape(1), of.pins = pin_low.size(), of.ties = ties.shape(0);
        const bool fits = given.shape(0) == of.states && given.shape(1) == of.items && conditional.size() == of.items &&
                          pin_joint.shape(0) == of.states && pin_joint.shape(1) == of.pins &&
                          pin_given.shape(0) == of.states && pin_given.shape(1) == of.pins &&
                          pin_high.size() == of.pins && root.size() == of.states && ties.shape(1) == of.states;
        if (!fits) throw nb::value_error("arrays differ in length");
        of.joint = flat(joint), of.given = flat(given), of.pin_joint = flat(pin_joint), of.pin_given = flat(pin_given);
        of.root = copy(root), of.conditional = copy(conditional);
        of.pin_low = copy(pin_low), of.pin_high = copy(pin_high);
        of.tie.assign(ties.data(), ties.data() + ties.size());
        return of;
    }

    AnswerProgram program_;
};

class Hull {
public:
    explicit Hull(const Truths& truth) : hull_(truth.shape(0), truth.shape(1), {truth.data(), truth.size()}) {
        if (truth.shape(0) == 0) throw nb::value_error("there is no world");
    }

    using Point = std::tuple<NewArray<std::int64_t>, NewArray<double>, NewArray<std::int64_t>>;

    std::optional<Point> nearest(Vector<double> target, Vector<std::uint8_t> active, Vector<std::int64_t> worlds,
                                 Vector<double> share) const {
        if (target.size() != hull_.items() || active.size() != hull_.items() || worlds.size() != share.size())
            throw nb::value_error("arrays differ in length");
        for (const std::int64_t world : view(worlds))
            if (world < 0 || world >= static_cast<std::int64_t>(hull_.worlds())) throw nb::index_error("no such world");
        std::optional<HullPoint> found;
        {
            nb::gil_scoped_release release;
            found = hull_.nearest(view(target), view(active), {copy(worlds), copy(share), {}});
        }
        if (!found) return {};
        return Point{give(std::move(found->worlds)), give(std::move(found->share)), give(std::move(found->face))};
    }

private:
    WorldHull hull_;
};

NewArray<std::int64_t> rows_of(const std::vector<std::array<std::int64_t, 3>>& triples) {
    std::vector<std::int64_t> flat;
    flat.reserve(3 * triples.size());
    for (const auto& triple : triples) flat.insert(flat.end(), triple.begin(), triple.end());
    return give(std::move(flat), {triples.size(), 3});
}

std::pair<NewArray<std::int64_t>, NewArray<std::int64_t>> triples(Matrix<std::uint64_t> truth, std::size_t worlds) {
    if (truth.shape(1) != (worlds + 63) / 64) throw nb::value_error("arrays differ in length");
    Exclusions found;
    {
        nb::gil_scoped_release release;
        found = triple_exclusions({truth.data(), truth.size()}, truth.shape(0), worlds);
    }
    return {rows_of(found.threes), rows_of(found.ones)};
}

}  // namespace

void bind_answers(nb::module_& module) {
    module.def("triple_exclusions", &triples, nb::arg("truth"), nb::arg("worlds"));
    nb::class_<Answers>(module, "Answers")
        .def(nb::init<const Truths&, const Truths&, Vector<std::uint8_t>, const Truths&, const Truths&, Vector<double>,
                      Vector<double>, Vector<std::uint8_t>, Matrix<double>>(),
             nb::arg("joint"), nb::arg("given"), nb::arg("conditional"), nb::arg("pin_joint"), nb::arg("pin_given"),
             nb::arg("pin_low"), nb::arg("pin_high"), nb::arg("root"), nb::arg("ties"))
        .def("misses", &Answers::misses, nb::arg("values"), nb::arg("active"), nb::arg("enough"))
        .def("bounds", &Answers::bounds, nb::arg("value"), nb::arg("active"), nb::arg("slack"), nb::arg("asked"));
    nb::class_<Hull>(module, "Hull")
        .def(nb::init<const Truths&>(), nb::arg("truth"))
        .def("nearest", &Hull::nearest, nb::arg("target"), nb::arg("active"), nb::arg("worlds"), nb::arg("share"));
}

}  // namespace coherently::bindings

// Newton's method on a pair problem, with an active set of kinks that are held shut.
#pragma once

#include <vector>

#include "groups/pairs/model.hpp"
#include "linear/newton_system.hpp"

namespace coherently {

class PairActiveSet {
public:
    explicit PairActiveSet(PairModel& model);

    // Leaves the variables in the answer, and the kinks in the model. They may not have settled.
    void run(PairAnswer& answer, double tolerance, int max_iterations);

private:
    void approach(PairAnswer& answer, int until, double enough);
    bool settle_kinks(PairAnswer& answer, double tolerance, int max_iterations);
    void round(const std::vector<double>& x);
    bool line_search(double value, double decrease);
    double step(double length, std::vector<double>& to) const;

    PairModel& model_;
    NewtonSystem system_;
    std::vector<double> x_, trial_;
    double radius_ = 0;
};

}  // namespace coherently

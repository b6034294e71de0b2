#include "coherently/components/component_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "coherently/functions/event_table.hpp"
#include "groups/parallel.hpp"

namespace coherently {

namespace {

constexpr std::size_t batch = 32;  // components between two looks at the clock

// The items of each label, ascending; labels outside 0 .. count - 1 are left out.
Rows rows_by_label(std::span<const std::int32_t> label, std::size_t count) {
    Rows rows;
    rows.starts.assign(count + 1, 0);
    const auto is_known = [count](std::int32_t one) { return one >= 0 && static_cast<std::size_t>(one) < count; };
    for (const std::int32_t one : label)
        if (is_known(one)) ++rows.starts[static_cast<std::size_t>(one) + 1];
    for (std::size_t i = 0; i < count; ++i) rows.starts[i + 1] += rows.starts[i];
    rows.items.resize(static_cast<std::size_t>(rows.starts[count]));
    std::vector<std::int64_t> next(rows.starts.begin(), rows.starts.end() - 1);
    for (std::size_t i = 0; i < label.size(); ++i)
        if (is_known(label[i]))
            rows.items[static_cast<std::size_t>(next[static_cast<std::size_t>(label[i])]++)] =
                static_cast<std::int32_t>(i);
    return rows;
}

std::uint64_t mix(std::uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace

// What one thread writes on.
struct ComponentTable::Desk {
    std::vector<std::uint64_t> raw, columns, truth;   // worlds; words per variable; words per event
    std::vector<std::uint64_t> hashes, worlds, bits;  // of raw worlds; those that differ; truth of events in these
    std::vector<std::size_t> kept;
    std::vector<std::int32_t> own;
    std::vector<ForecastTerm> terms;
    std::uint64_t every = 0;  // the bits of all worlds
    SmallMixture mixture;
};

ComponentTable::ComponentTable(PosedComponents posed) : posed_(std::move(posed)) {
    const std::size_t n = posed_.weight.size(), blocks = posed_.block_starts.size() - 1;
    const std::span<const std::int32_t> label(posed_.component);
    std::size_t count = 0;
    for (const std::int32_t one : label.first(n)) count = std::max(count, static_cast<std::size_t>(one) + 1);
    events_ = rows_by_label(label.first(n), count);
    blocks_ = rows_by_label(label.subspan(n, blocks), count);
    laws_ = rows_by_label(label.subspan(n + blocks), count);
    std::vector<std::int32_t> home(posed_.n_variables, -1), given(posed_.given_weight.size());
    const auto settle = [&home](std::span<const std::int32_t> variables, std::int32_t own) {
        for (const std::int32_t v : variables) home[static_cast<std::size_t>(v)] = own;
    };
    const EventView events = posed_.events.view(posed_.n_variables), laws = posed_.laws.view(posed_.n_variables);
    for (std::size_t i = 0; i < n; ++i) settle(events.variables_of(i), label[i]);
    for (std::size_t i = 0; i < blocks; ++i) {
        const std::span<const std::int32_t> members(posed_.block_variables);
        settle(members.subspan(static_cast<std::size_t>(posed_.block_starts[i]),
                               static_cast<std::size_t>(posed_.block_starts[i + 1] - posed_.block_starts[i])),
               label[n + i]);
    }
    for (std::size_t i = 0; i < laws.size(); ++i) settle(laws.variables_of(i), label[n + blocks + i]);
    variables_ = rows_by_label(home, count);
    for (std::size_t i = 0; i < given.size(); ++i)
        given[i] = label[static_cast<std::size_t>(posed_.joint.coordinate[i])];
    given_ = rows_by_label(given, count);
    number_.assign(posed_.n_variables, 0), place_.assign(n, 0);
    for (std::size_t c = 0; c < count; ++c) {
        for (std::size_t i = 0; i < variables_.of(c).size(); ++i)
            number_[static_cast<std::size_t>(variables_.of(c)[i])] = static_cast<std::int32_t>(i);
        for (std::size_t i = 0; i < events_.of(c).size(); ++i)
            place_[static_cast<std::size_t>(events_.of(c)[i])] = static_cast<std::int32_t>(i);
    }
    barred_.assign(count, 0);
    for (const std::int32_t event : posed_.barred)
        barred_[static_cast<std::size_t>(label[static_cast<std::size_t>(event)])] = 1;
    answers_.resize(count);
}

bool ComponentTable::solve(Deadline deadline, unsigned threads) {
    const std::size_t from = done_, batches = (size() - from + batch - 1) / batch;
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        Desk desk;
        while (!has_passed(deadline)) {
            const std::size_t own = next++;
            if (own >= batches) return;
            const std::size_t begin = from + own * batch;
            for (std::size_t c = begin; c < std::min(begin + batch, size()); ++c) solve_one(c, desk);
        }
    };
    const std::size_t helpers = std::min<std::size_t>(threads, batches);
    if (helpers <= 1) {
        work();
    } else {
        in_parallel(helpers, threads, [&](std::size_t) { work(); });
    }
    done_ = std::min(size(), from + std::min(next.load(), batches) * batch);
    return done_ == size();
}

void ComponentTable::solve_one(std::size_t component, Desk& desk) {
    if (barred_[component] || !are_level(component) || !list_worlds(component, desk) || !list_truth(component, desk))
        return;
    list_terms(component, desk);
    if (!desk.mixture.solve(posed_.loss, desk.terms, desk.worlds.size())) return;
    const auto is_used = [](double share) { return share > 0; };
    const auto shares = desk.mixture.shares();
    if (static_cast<std::size_t>(std::count_if(shares.begin(), shares.end(), is_used)) > desk.bits.size() + 1)
        desk.mixture.thin(desk.bits);
    if (!std::isfinite(desk.mixture.shortfall()) || has_odd_condition(component, desk)) return;
    keep(component, desk);
}

bool ComponentTable::are_level(std::size_t component) const {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    const auto see = [&](double weight) {
        if (weight > 0) least = std::min(least, weight), most = std::max(most, weight);
    };
    for (const std::int32_t event : events_.of(component)) see(posed_.weight[static_cast<std::size_t>(event)]);
    for (const std::int32_t given : given_.of(component)) see(posed_.given_weight[static_cast<std::size_t>(given)]);
    return most <= widest_weights * least;
}

// The possible worlds as bits of variables, in the order of counting; false if there are too many, or none.
bool ComponentTable::list_worlds(std::size_t component, Desk& desk) const {
    const auto variables = variables_.of(component);
    if (variables.size() > 64) return false;
    std::uint64_t tied = 0;
    desk.raw.assign(1, 0);
    const auto in_block = [&](std::size_t block, std::size_t i) {
        const std::int32_t v = posed_.block_variables[static_cast<std::size_t>(posed_.block_starts[block]) + i];
        return std::uint64_t{1} << number_[static_cast<std::size_t>(v)];
    };
    const auto size_of = [&](std::size_t block) {
        return static_cast<std::size_t>(posed_.block_starts[block + 1] - posed_.block_starts[block]);
    };
    for (const std::int32_t block : blocks_.of(component))
        for (std::size_t i = 0; i < size_of(static_cast<std::size_t>(block)); ++i)
            tied |= in_block(static_cast<std::size_t>(block), i);
    for (std::size_t v = 0; v < variables.size(); ++v) {
        if (tied >> v & 1) continue;
        const std::size_t before = desk.raw.size();
        if (2 * before > most_raw_worlds) return false;
        for (std::size_t i = 0; i < before; ++i) desk.raw.push_back(desk.raw[i] | std::uint64_t{1} << v);
    }
    for (const std::int32_t one : blocks_.of(component)) {
        const auto block = static_cast<std::size_t>(one);
        const std::size_t width = size_of(block), before = desk.raw.size();
        const auto first = static_cast<std::size_t>(posed_.state_starts[block]);
        const std::size_t states = (static_cast<std::size_t>(posed_.state_starts[block + 1]) - first) / width;
        if (before * states > most_raw_worlds) return false;
        const std::vector<std::uint64_t>& known = desk.raw;
        std::vector<std::uint64_t> more;
        more.reserve(before * states);
        for (std::size_t state = 0; state < states; ++state) {
            std::uint64_t own = 0;
            for (std::size_t i = 0; i < width; ++i)
                if (posed_.states[first + state * width + i]) own |= in_block(block, i);
            for (const std::uint64_t world : known) more.push_back(world | own);
        }
        desk.raw.swap(more);
    }
    const EventView laws = posed_.laws.view(posed_.n_variables);
    for (const std::int32_t law : laws_.of(component)) {
        const LargeEvent function = function_of(laws, static_cast<std::size_t>(law));
        const bool truth = posed_.law_truth[static_cast<std::size_t>(law)];
        std::erase_if(desk.raw, [&](std::uint64_t world) {
            std::uint32_t row = 0;
            for (std::size_t i = 0; i < function.variables.size(); ++i)
                row += function.part(i, world >> number_[static_cast<std::size_t>(function.variables[i])] & 1);
            return function.holds(row) != truth;
        });
    }
    return !desk.raw.empty();
}

// The worlds in which some event differs, and the truth of each event in these; false if they are too many.
bool ComponentTable::list_truth(std::size_t component, Desk& desk) const {
    const auto events = events_.of(component);
    const std::size_t words = words_for(desk.raw.size()), variables = variables_.of(component).size();
    desk.columns.assign(std::max<std::size_t>(1, variables) * words, 0);
    for (std::size_t i = 0; i < desk.raw.size(); ++i)
        for (std::uint64_t rest = desk.raw[i]; rest; rest &= rest - 1)
            desk.columns[static_cast<std::size_t>(std::countr_zero(rest)) * words + i / 64] |= std::uint64_t{1}
                                                                                               << (i % 64);
    desk.truth.resize(events.size() * words), desk.hashes.assign(desk.raw.size(), 0);
    const EventView view = posed_.events.view(posed_.n_variables);
    const auto holds = [&](std::size_t e, std::size_t world) {
        return desk.truth[e * words + world / 64] >> (world % 64) & 1;
    };
    desk.kept.clear(), desk.worlds.clear();
    // The first worlds mostly say whether there are too many.
    constexpr std::size_t first_words = 2;
    for (std::size_t begin = 0, end = std::min(words, first_words); begin < end; begin = end, end = words) {
        for (std::size_t e = 0; e < events.size(); ++e) {
            const LargeEvent event = function_of(view, static_cast<std::size_t>(events[e]));
            desk.own.clear();
            for (const std::int32_t v : event.variables) desk.own.push_back(number_[static_cast<std::size_t>(v)]);
            const Function function{event.counted ? FunctionKind::count : FunctionKind::table, desk.own, event.words};
            const std::uint64_t key = mix(e);
            for (std::size_t w = begin; w < end; ++w) {
                const std::size_t left = desk.raw.size() - 64 * w;
                const std::uint64_t inside = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
                std::uint64_t holds_in = evaluate(function, desk.columns.data(), words, w) & inside;
                desk.truth[e * words + w] = holds_in;
                for (; holds_in; holds_in &= holds_in - 1)
                    desk.hashes[64 * w + static_cast<std::size_t>(std::countr_zero(holds_in))] += key;
            }
        }
        for (std::size_t i = 64 * begin; i < std::min(64 * end, desk.raw.size()); ++i) {
            const bool known = std::any_of(desk.kept.begin(), desk.kept.end(), [&](std::size_t other) {
                if (desk.hashes[other] != desk.hashes[i]) return false;
                for (std::size_t e = 0; e < events.size(); ++e)
                    if (holds(e, other) != holds(e, i)) return false;
                return true;
            });
            if (known) continue;
            if (desk.kept.size() >= posed_.most_worlds) return false;
            desk.kept.push_back(i), desk.worlds.push_back(desk.raw[i]);
        }
    }
    desk.every = desk.kept.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << desk.kept.size()) - 1;
    desk.bits.assign(events.size(), 0);
    for (std::size_t e = 0; e < events.size(); ++e)
        for (std::size_t i = 0; i < desk.kept.size(); ++i) desk.bits[e] |= holds(e, desk.kept[i]) << i;
    return true;
}

std::uint64_t ComponentTable::side(const SideColumns& sides, std::size_t i, const Desk& desk) const {
    if (sides.coordinate[i] < 0) return desk.every;
    const std::uint64_t bits =
        desk.bits[static_cast<std::size_t>(place_[static_cast<std::size_t>(sides.coordinate[i])])];
    return sides.turned[i] ? desk.every & ~bits : bits;
}

void ComponentTable::list_terms(std::size_t component, Desk& desk) const {
    desk.terms.clear();
    const auto events = events_.of(component);
    for (std::size_t e = 0; e < events.size(); ++e) {
        const auto event = static_cast<std::size_t>(events[e]);
        if (posed_.weight[event] > 0)
            desk.terms.push_back({desk.bits[e], desk.every & ~desk.bits[e], posed_.weight[event], posed_.mean[event]});
    }
    for (const std::int32_t one : given_.of(component)) {
        const auto given = static_cast<std::size_t>(one);
        if (!(posed_.given_weight[given] > 0)) continue;
        const std::uint64_t joint = side(posed_.joint, given, desk);
        desk.terms.push_back({joint, side(posed_.condition, given, desk) & ~joint, posed_.given_weight[given],
                              posed_.given_mean[given], true, posed_.linearised});
    }
}

// Whether a condition is so unlikely, or so certain, that the general method must look at it.
bool ComponentTable::has_odd_condition(std::size_t component, const Desk& desk) const {
    for (const std::int32_t one : given_.of(component)) {
        const std::uint64_t condition = side(posed_.condition, static_cast<std::size_t>(one), desk);
        if (!(desk.mixture.sum(condition) >= unlikely_condition)) return true;
        if (!(desk.mixture.sum(desk.every & ~condition) >= absent_condition)) return true;
    }
    return false;
}

// The Brier penalty that the answer saves in every world: a forecast t that it changes to r saves (v - t)^2 - (v - r)^2
// where its event has the truth v, a conditional one where its condition holds.
double ComponentTable::saved(const Desk& desk) const {
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> sums(desk.worlds.size(), 0.0);
    for (const ForecastTerm& term : desk.terms) {
        const double joint = desk.mixture.sum(term.joint), rest = desk.mixture.sum(term.rest);
        const double r = std::clamp(joint / (joint + rest), 0.0, 1.0), apart = term.weight * (r - term.target);
        const double yes = apart * (2 - r - term.target), no = -apart * (r + term.target);
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += term.joint >> i & 1 ? yes : term.rest >> i & 1 ? no : 0;
    }
    for (const double sum : sums) least = std::min(least, sum);
    return least;
}

void ComponentTable::keep(std::size_t component, Desk& desk) {
    ComponentAnswer& answer = answers_[component];
    const SmallMixture& mixture = desk.mixture;
    double total = 0;
    for (std::size_t i = 0; i < desk.worlds.size(); ++i) {
        if (!(mixture.shares()[i] > 0)) continue;
        answer.share.push_back(mixture.shares()[i]), answer.worlds.push_back(desk.worlds[i]);
        total += mixture.shares()[i];
    }
    if (answer.share.size() > desk.bits.size() + 1 || !(std::abs(total - 1) < 1e-9)) {
        answer = {};
        return;
    }
    for (const std::uint64_t bits : desk.bits) answer.x.push_back(std::clamp(mixture.sum(bits), 0.0, 1.0));
    answer.objective = mixture.objective(), answer.bound = std::min(mixture.bound(), mixture.objective());
    answer.shortfall = 0.5 * mixture.shortfall();
    const bool plain = given_.of(component).empty();
    if (!plain) answer.shortfall = std::numeric_limits<double>::quiet_NaN();
    answer.saved = std::numeric_limits<double>::quiet_NaN();
    if (!plain && posed_.loss == ForecastLoss::brier) answer.saved = saved(desk);
    answer.steps = mixture.steps();
    answer.solved = true;
}

}  // namespace coherently

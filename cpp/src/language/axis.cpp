#include "coherently/language/axis.hpp"

#include <algorithm>
#include <map>

#include "coherently/language/quantity.hpp"

namespace coherently {
namespace {

[[noreturn]] void mismatch(std::size_t position, const std::string& message) {
    throw TextError(Fault::mismatch, position, message);
}

}  // namespace

void Axis::add(const Comparison& comparison, std::size_t index) {
    truths_.push_back({index, comparison.relation == TokenKind::not_equal, {}});
    if (declaration_->kind == DeclaredKind::named) add_named(comparison);
    else add_quantity(comparison);
}

void Axis::add_named(const Comparison& comparison) {
    if (comparison.relation >= TokenKind::less)
        mismatch(comparison.position, comparison.written_name + " has named values (" + declaration_->describe() +
                                          "), which have no order; write " + comparison.written_name + " = " +
                                          declaration_->written_values.front() + " or in {...}");
    for (std::size_t i = 0; i < comparison.values.size(); ++i) {
        const std::int32_t value = declaration_->value(comparison.values[i]);
        if (value < 0) {
            const std::string near = declaration_->nearest(comparison.values[i]);
            mismatch(comparison.value_positions[i], comparison.written_values[i] + " is not a value of " +
                                                        comparison.written_name + " (" + declaration_->describe() +
                                                        ")" + (near.empty() ? "" : "; did you mean " + near + "?"));
        }
        mentions_.emplace_back(value, static_cast<std::int32_t>(truths_.size() - 1));
    }
}

double Axis::quantity(const Comparison& comparison, std::size_t i) const {
    const bool date = declaration_->kind == DeclaredKind::date;
    const auto found = date ? read_date(comparison.values[i]) : read_number(comparison.values[i]);
    if (found) return *found;
    mismatch(comparison.value_positions[i],
             comparison.written_name + " is declared as " + declaration_->describe() + "; " +
                 comparison.written_values[i] +
                 (date ? " is not a date such as 2027-01-31" : " is not a number such as 2.5"));
}

// Dates before the first and after the last that can be written do not exist.
std::optional<Cut> Axis::cut(double at, bool inclusive) const {
    if (declaration_->kind == DeclaredKind::number) return Cut{at, inclusive};
    if (inclusive) ++at;
    return at <= first_day || at > last_day ? std::nullopt : std::optional(Cut{at, false});
}

void Axis::add_quantity(const Comparison& comparison) {
    const std::size_t truth = truths_.size() - 1;
    for (std::size_t i = 0; i < comparison.values.size(); ++i) {
        const double at = quantity(comparison, i);
        const auto below = cut(at, false), beyond = cut(at, true);
        const bool never = declaration_->kind == DeclaredKind::date && at <= first_day;
        const bool always = declaration_->kind == DeclaredKind::date && at >= last_day;
        switch (comparison.relation) {
            case TokenKind::less:
                if (!never) pieces_.push_back({std::nullopt, below, truth});
                break;
            case TokenKind::less_equal: pieces_.push_back({std::nullopt, beyond, truth}); break;
            case TokenKind::greater:
                if (!always) pieces_.push_back({beyond, std::nullopt, truth});
                break;
            case TokenKind::greater_equal: pieces_.push_back({below, std::nullopt, truth}); break;
            default: pieces_.push_back({below, beyond, truth});
        }
    }
}

void Axis::close() {
    if (declaration_->kind == DeclaredKind::named) close_named();
    else close_quantity();
}

// Values that the same comparisons mention are one cell.
void Axis::close_named() {
    std::sort(mentions_.begin(), mentions_.end());
    mentions_.erase(std::unique(mentions_.begin(), mentions_.end()), mentions_.end());
    std::map<std::vector<std::int32_t>, std::size_t> cell_of;
    std::size_t mentioned = 0;
    for (std::size_t i = 0; i < mentions_.size();) {
        std::vector<std::int32_t> signature;
        const std::int32_t value = mentions_[i].first;
        for (; i < mentions_.size() && mentions_[i].first == value; ++i) signature.push_back(mentions_[i].second);
        const auto [found, fresh] = cell_of.try_emplace(std::move(signature), members_.size());
        if (fresh) {
            members_.emplace_back();
            for (const std::int32_t truth : found->first)
                truths_[static_cast<std::size_t>(truth)].cells.push_back(static_cast<std::int32_t>(found->second));
        }
        members_[found->second].push_back(value);
        ++mentioned;
    }
    n_rest_ = declaration_->values.size() - mentioned;
    n_cells_ = members_.size() + (n_rest_ > 0);
}

void Axis::close_quantity() {
    for (const Piece& piece : pieces_) {
        if (piece.from) cuts_.push_back(*piece.from);
        if (piece.to) cuts_.push_back(*piece.to);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    n_cells_ = cuts_.size() + 1;
    const auto after = [&](const Cut& cut) {
        return std::lower_bound(cuts_.begin(), cuts_.end(), cut) - cuts_.begin() + 1;
    };
    for (const Piece& piece : pieces_) {
        const auto begin = piece.from ? after(*piece.from) : 0;
        const auto end = piece.to ? after(*piece.to) : static_cast<std::ptrdiff_t>(n_cells_);
        for (auto cell = begin; cell < end; ++cell)
            truths_[piece.truth].cells.push_back(static_cast<std::int32_t>(cell));
    }
}

std::vector<std::int32_t> Axis::values_of(std::size_t cell) const {
    if (cell < members_.size()) return members_[cell];
    std::vector<std::int32_t> rest;
    auto mention = mentions_.begin();
    for (std::int32_t value = 0; value < static_cast<std::int32_t>(declaration_->values.size()); ++value) {
        while (mention != mentions_.end() && mention->first < value) ++mention;
        if (mention == mentions_.end() || mention->first != value) rest.push_back(value);
    }
    return rest;
}

Axis::Choice Axis::choose_named(const std::function<bool(std::size_t, std::size_t)>& same) const {
    struct Class {
        std::vector<std::size_t> cells;
        std::size_t size = 0;
        std::int32_t latest = 0;
    };
    std::vector<Class> classes;
    for (std::size_t cell = 0; cell < n_cells_; ++cell) {
        auto found = classes.begin();
        while (found != classes.end() && !same(found->cells.front(), cell)) ++found;
        if (found == classes.end()) found = classes.insert(classes.end(), Class{});
        found->cells.push_back(cell);
        found->size += cell < members_.size() ? members_[cell].size() : n_rest_;
    }
    Choice choice;
    if (classes.size() == 1) return choice;
    std::size_t largest = 0;
    for (const Class& one : classes) largest = std::max(largest, one.size);
    const auto ties =
        std::count_if(classes.begin(), classes.end(), [&](const Class& one) { return one.size == largest; });
    const Class* chosen = nullptr;
    for (Class& one : classes) {
        if (one.size < largest) continue;
        if (ties > 1)
            for (const std::size_t cell : one.cells) one.latest = std::max(one.latest, values_of(cell).back());
        if (!chosen || one.latest > chosen->latest) chosen = &one;
    }
    choice.otherwise = static_cast<std::int32_t>(chosen->cells.front());
    for (const Class& one : classes) {
        if (&one == chosen) continue;
        for (const std::size_t cell : one.cells)
            for (const std::int32_t value : values_of(cell))
                choice.atoms.emplace_back(Cut{static_cast<double>(value), false}, static_cast<std::int32_t>(cell));
    }
    std::sort(choice.atoms.begin(), choice.atoms.end());
    return choice;
}

Axis::Choice Axis::choose(const std::function<bool(std::size_t, std::size_t)>& same) const {
    if (declaration_->kind == DeclaredKind::named) return choose_named(same);
    Choice choice;
    choice.otherwise = static_cast<std::int32_t>(cuts_.size());
    for (std::size_t i = 0; i < cuts_.size(); ++i)
        if (!same(i, i + 1)) choice.atoms.emplace_back(cuts_[i], static_cast<std::int32_t>(i));
    return choice;
}

void write_free(const Declaration& declaration, const Comparison& comparison, Resolver& resolver,
                std::vector<Step>& steps) {
    const bool date = declaration.kind == DeclaredKind::date, named = declaration.kind == DeclaredKind::named;
    Axis(declaration).add(comparison, 0);  // refuses what cannot be compared
    const auto atom = [&](double at, bool inclusive) {
        const Cut cut = date ? Cut{at + inclusive, false} : Cut{at, inclusive};
        steps.push_back({Op::variable, resolver.atom(declaration, cut)});
    };
    for (std::size_t i = 0; i < comparison.values.size(); ++i) {
        const std::string& text = comparison.values[i];
        const double at = named ? declaration.value(text) : date ? *read_date(text) : *read_number(text);
        const bool above = comparison.relation == TokenKind::greater || comparison.relation == TokenKind::greater_equal;
        if (comparison.relation >= TokenKind::less) {
            atom(at, comparison.relation == TokenKind::less_equal || comparison.relation == TokenKind::greater);
            if (above) steps.push_back({Op::negate});
        } else {
            atom(at, !named);
            if (!named) {
                atom(at, false);
                steps.push_back({Op::negate});
                steps.push_back({Op::conjoin});
            }
        }
        if (i > 0) steps.push_back({Op::disjoin});
    }
    if (comparison.relation == TokenKind::not_equal) steps.push_back({Op::negate});
}

}  // namespace coherently

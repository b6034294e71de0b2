#include "coherently/functions/entailment.hpp"

#include <algorithm>
#include <span>

#include "coherently/functions/boolean_function.hpp"
#include "coherently/functions/components.hpp"
#include "coherently/random.hpp"

namespace coherently {
namespace {

constexpr std::size_t steps = 1'000;    // between two pauses
constexpr std::size_t worth_while = 8;  // another world is drawn if the last showed one in so many questions to be open

struct Reach {
    bool can_be_false = false, can_be_true = false;
};

// What a function can still be where its unknown variables (-1) are free.
Reach reach(const EventView& events, std::size_t f, std::span<const std::int8_t> known) {
    const auto variables = events.variables_of(f);
    const auto words = events.words_of(f);
    Reach found;
    if (variables.size() > max_table_variables) {
        std::size_t low = 0, high = 0;
        for (std::size_t i = 0; i < variables.size(); ++i) {
            const std::int8_t value = known[static_cast<std::size_t>(variables[i])];
            const bool counts = value >= 0 && bit_at(words, i) == (value == 1);
            low += counts;
            high += counts || value < 0;
        }
        for (std::size_t count = low; count <= high; ++count)
            (bit_at(words.subspan(words_for(variables.size())), count) ? found.can_be_true : found.can_be_false) = true;
        return found;
    }
    for (std::size_t w = 0; w < words.size(); ++w) {
        std::uint64_t fits = table_mask(variables.size());
        for (std::size_t i = 0; i < variables.size(); ++i) {
            const std::int8_t value = known[static_cast<std::size_t>(variables[i])];
            if (value >= 0) fits &= value ? variable_word(i, w) : ~variable_word(i, w);
        }
        found.can_be_true |= (words[w] & fits) != 0;
        found.can_be_false |= (~words[w] & fits) != 0;
    }
    return found;
}

// A part of the facts, questions and choices, with variables numbered anew; known ones are fixed.
struct Part {
    Functions functions;
    std::vector<std::uint8_t> truth;
    std::vector<std::size_t> asked;  // the numbers of its questions; they are the last functions
    std::vector<std::int64_t> choice_starts{0};
    std::vector<std::int32_t> choice_atoms;
    std::vector<std::uint8_t> choice_ordered, choice_complete;
    std::vector<std::int8_t> known;

    std::size_t n_facts() const { return truth.size() - asked.size(); }
};

class Splitter {
public:
    Splitter(const EventView& facts, std::span<const std::uint8_t> truth, const EventView& questions,
             const ChoiceView& choices, std::span<const std::int8_t> known)
        : facts_(facts), truth_(truth), questions_(questions), choices_(choices), known_(known) {
        local_.assign(known.size(), -1);
    }

    // The answers that known variables settle are written; the rest is cut into parts.
    std::vector<std::vector<std::size_t>> split(std::vector<std::int8_t>& answers) {
        for (std::size_t f = 0; f < facts_.size(); ++f) {
            const Reach found = reach(facts_, f, known_);
            if (truth_[f] ? found.can_be_false : found.can_be_true) add_row(facts_.variables_of(f), f);
        }
        for (std::size_t q = 0; q < questions_.size(); ++q) {
            const Reach found = reach(questions_, q, known_);
            if (found.can_be_true && found.can_be_false) add_row(questions_.variables_of(q), facts_.size() + q);
            else answers[q] = found.can_be_true;
        }
        for (std::size_t c = 0; c + 1 < choices_.starts.size(); ++c)
            add_row(atoms_of(c), facts_.size() + questions_.size() + c);
        const auto labels = connected_rows(starts_, members_, known_.size());
        std::vector<std::vector<std::size_t>> parts;
        for (std::size_t row = 0; row < labels.size(); ++row) {
            if (static_cast<std::size_t>(labels[row]) == parts.size()) parts.emplace_back();
            parts[static_cast<std::size_t>(labels[row])].push_back(items_[row]);
        }
        return parts;
    }

    Part make(const std::vector<std::size_t>& items) {
        Part part;
        std::vector<std::int32_t> own, used;
        const auto number = [&](std::int32_t variable) {
            std::int32_t& place = local_[static_cast<std::size_t>(variable)];
            if (place < 0) {
                place = static_cast<std::int32_t>(used.size());
                used.push_back(variable);
                part.known.push_back(known_[static_cast<std::size_t>(variable)]);
            }
            return place;
        };
        for (const std::size_t item : items) {
            const bool is_fact = item < facts_.size(), is_choice = item >= facts_.size() + questions_.size();
            if (is_choice) {
                add_choice(item - facts_.size() - questions_.size(), part, number);
                continue;
            }
            const EventView& events = is_fact ? facts_ : questions_;
            const std::size_t f = is_fact ? item : item - facts_.size();
            own.clear();
            for (const std::int32_t variable : events.variables_of(f)) own.push_back(number(variable));
            part.functions.add(own, events.words_of(f));
            part.truth.push_back(is_fact ? truth_[f] : Satisfaction::question);
            if (!is_fact) part.asked.push_back(f);
        }
        for (const std::int32_t variable : used) local_[static_cast<std::size_t>(variable)] = -1;
        return part;
    }

private:
    std::span<const std::int32_t> atoms_of(std::size_t c) const {
        const auto begin = static_cast<std::size_t>(choices_.starts[c]);
        return choices_.atoms.subspan(begin, static_cast<std::size_t>(choices_.starts[c + 1]) - begin);
    }

    void add_row(std::span<const std::int32_t> variables, std::size_t item) {
        const std::size_t before = members_.size();
        for (const std::int32_t variable : variables)
            if (known_[static_cast<std::size_t>(variable)] < 0) members_.push_back(variable);
        if (members_.size() == before) return;
        starts_.push_back(static_cast<std::int64_t>(members_.size()));
        items_.push_back(item);
    }

    // Known atoms of a choice bind the others no more: named ones are false (else all would be known), thresholds lie
    // outside the unknown ones.
    template <class Number>
    void add_choice(std::size_t c, Part& part, const Number& number) const {
        for (const std::int32_t atom : atoms_of(c))
            if (known_[static_cast<std::size_t>(atom)] < 0) part.choice_atoms.push_back(number(atom));
        part.choice_starts.push_back(static_cast<std::int64_t>(part.choice_atoms.size()));
        part.choice_ordered.push_back(choices_.ordered[c]);
        part.choice_complete.push_back(choices_.complete[c]);
    }

    const EventView& facts_;
    std::span<const std::uint8_t> truth_;
    const EventView& questions_;
    const ChoiceView& choices_;
    std::span<const std::int8_t> known_;
    std::vector<std::int64_t> starts_{0};
    std::vector<std::int32_t> members_, local_;
    std::vector<std::size_t> items_;
};

class Examiner {
public:
    Examiner(const Part& part, std::size_t max_conflicts, const std::function<void()>& pause)
        : part_(part),
          view_(part.functions.view(part.known.size())),
          search_(view_, part.truth,
                  {part.choice_starts, part.choice_atoms, part.choice_ordered, part.choice_complete}),
          max_conflicts_(max_conflicts),
          pause_(pause) {
        for (std::size_t v = 0; v < part.known.size(); ++v)
            if (part.known[v] >= 0) search_.fix(static_cast<std::int32_t>(v), part.known[v] == 1);
    }

    // Whether the facts hold in some world (`satisfied`), in none, or neither was found in time.
    Satisfaction::Answer examine(std::vector<std::int8_t>& answers) {
        const auto possible = run();
        if (possible != Satisfaction::Answer::satisfied) {
            for (const std::size_t q : part_.asked) answers[q] = Entailment::undecided;
            return possible;
        }
        first_ = search_.world();
        for (std::size_t i = 0; i < part_.asked.size(); ++i) pending_.push_back(i);
        draw_worlds();
        while (!pending_.empty()) {
            const std::size_t i = pending_.back(), f = part_.n_facts() + i;
            const bool truth = holds(f, first_);
            search_.ask(f, !truth);
            const auto answer = run();
            if (answer == Satisfaction::Answer::satisfied) {
                sift(search_.world());
                continue;
            }
            pending_.pop_back();
            answers[part_.asked[i]] = answer == Satisfaction::Answer::open ? Entailment::undecided : truth;
        }
        return possible;
    }

private:
    Satisfaction::Answer run() {
        auto answer = Satisfaction::Answer::open;
        while (answer == Satisfaction::Answer::open && search_.conflicts() <= max_conflicts_) {
            answer = search_.run(steps);
            pause_();
        }
        return answer;
    }

    bool holds(std::size_t f, const World& world) const {
        const LargeEvent event = function_of(view_, f);
        return event.holds(event.row(world));
    }

    // Questions that another world answers otherwise are open.
    void sift(const World& world) {
        std::erase_if(pending_, [&](std::size_t i) {
            return holds(part_.n_facts() + i, world) != holds(part_.n_facts() + i, first_);
        });
    }

    // Worlds as different from the first as the facts allow, then random ones, while they show much.
    void draw_worlds() {
        Random random(1);
        World wanted(first_.size());
        for (std::size_t v = 0; v < wanted.size(); ++v) wanted[v] = !first_[v];
        while (!pending_.empty()) {
            search_.prefer(wanted);
            if (run() != Satisfaction::Answer::satisfied) return;
            const std::size_t before = pending_.size();
            sift(search_.world());
            if ((before - pending_.size()) * worth_while < before) return;
            for (std::uint8_t& value : wanted) value = random.next() >> 63;
        }
    }

    const Part& part_;
    EventView view_;
    Satisfaction search_;
    std::size_t max_conflicts_;
    const std::function<void()>& pause_;
    World first_;
    std::vector<std::size_t> pending_;  // places in part_.asked; questions that are answered alike in all worlds so far
};

}  // namespace

Entailment entail(const EventView& facts, std::span<const std::uint8_t> truth, const EventView& questions,
                  const ChoiceView& choices, std::size_t max_conflicts, const std::function<void()>& pause) {
    Entailment found;
    Satisfaction all(facts, truth, choices);
    const auto known = all.implied();
    if (!known) return {.impossible = true, .undecided_facts = 0, .answers = {}};
    found.answers.assign(questions.size(), Entailment::open);
    Splitter splitter(facts, truth, questions, choices, *known);
    for (const auto& items : splitter.split(found.answers)) {
        // A question by itself is open: no function in its canonical form is constant, nor after the test above.
        if (items.size() == 1) continue;
        const Part part = splitter.make(items);
        if (part.n_facts() == 0 && (part.asked.empty() || part.choice_ordered.empty())) continue;
        const auto possible = Examiner(part, max_conflicts, pause).examine(found.answers);
        if (possible == Satisfaction::Answer::impossible)
            return {.impossible = true, .undecided_facts = 0, .answers = {}};
        if (possible == Satisfaction::Answer::open) found.undecided_facts += part.n_facts();
        pause();
    }
    return found;
}

}  // namespace coherently

// A column of cells, read cell by cell.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coherently/tables/text_pool.hpp"

namespace coherently {

enum class ColumnKind : std::int8_t {
    skip,    // its cells are dropped
    text,    // texts as they are
    name,    // texts without white space around them
    number,  // numbers; cells that are not plain numbers from `low` to `high` are kept as texts
};

struct ColumnPlan {
    ColumnKind kind = ColumnKind::skip;
    double low = 0.0, high = 0.0;
};

// A number as people write it: digits, perhaps with a sign, a point and an exponent, perhaps between spaces. Texts that
// float() of Python would read differently or not at all are refused.
bool read_plain_number(std::string_view cell, double& value);

class Column {
public:
    explicit Column(const ColumnPlan& plan) : plan_(plan) {}

    void add(std::string_view cell);
    // Numbers the texts that wait for it; to be called before `codes` and `pool` are used.
    void finish();
    // A cell that is kept as a text, even in a column of numbers.
    void add_odd(std::string_view cell);
    const ColumnPlan& plan() const { return plan_; }

    // The distinct texts: of all cells, or of the odd ones among numbers. Several readers may share one.
    std::shared_ptr<TextPool> pool = std::make_shared<TextPool>();
    std::vector<std::int32_t> codes;  // the text of each cell, or of each odd one
    std::vector<double> values;       // the number of each cell; NaN for the odd ones
    std::vector<std::int64_t> odd;    // where the odd cells are
    std::string first_number;         // the first cell that is a plain number, as written
    bool has_number = false;

private:
    void wait(std::string_view text);

    ColumnPlan plan_;
    std::string waiting_;  // the texts that are not numbered yet, in one string
    std::vector<std::size_t> ends_;
    std::vector<std::string_view> views_;
};

}  // namespace coherently

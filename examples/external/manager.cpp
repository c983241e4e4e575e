// A time manager in C++ for Zeitnot: one event a line on standard input, one answer a line on standard output.
//
// g++ -O2 -o manager examples/external/manager.cpp
// zeitnot time compare smooth 'external(command="./manager")' --nps 430

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

// The number under a key of a line; 0 where the key is absent.
static double number(const std::string& line, const std::string& key) {
    const auto at = line.find("\"" + key + "\":");
    return at == std::string::npos ? 0.0 : std::strtod(line.c_str() + at + key.size() + 3, nullptr);
}

int main() {
    double budget_ms = 0.0;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.find("\"event\":\"plan\"") != std::string::npos) {
            const double free_ms = std::max(0.0, number(line, "clock_ms") - number(line, "overhead_ms"));
            const double to_go = number(line, "movestogo");
            const double moves = to_go > 0.0 ? std::min(40.0, to_go) : 40.0;
            budget_ms = std::min(free_ms, free_ms / moves + 0.75 * number(line, "inc_ms"));
            std::cout << "{\"budget_ms\":" << budget_ms << "}" << std::endl;
        } else if (line.find("\"event\":\"observe\"") != std::string::npos) {
            const bool stop = number(line, "t_ms") >= budget_ms;
            std::cout << "{\"stop\":" << (stop ? "true" : "false") << "}" << std::endl;
        } else { // finish
            std::cout << "{}" << std::endl;
        }
    }
}

import Glibc
import TestSupport

/// The fault campaign: the same tests run a few times in `make test`, and many times in `make faults`, which makes a table
/// of their measurements.
enum Campaign {
    /// True for `make faults`.
    static let isLong = environmentHas("NOWPLAYING_FAULTS")

    /// Number of repetitions.
    static func times(_ few: Int, long: Int) -> Int { isLong ? long : few }

    /// Adds a row to the table: the fault, its count, and the result.
    static func report(_ fault: String, _ times: Int, _ result: String) {
        let row = "| \(fault) | \(times) | \(result) |\n"
        guard let path = currentEnvironment()["NOWPLAYING_FAULTS_REPORT"], let file = fopen(path, "a") else { return }
        fputs(row, file)
        fclose(file)
    }

    /// The least and the most of some numbers: `-0.8 … 3.1`.
    static func range(_ numbers: [Double]) -> String { "\(text(numbers.min() ?? 0)) … \(text(numbers.max() ?? 0))" }

    /// A number with one decimal.
    static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

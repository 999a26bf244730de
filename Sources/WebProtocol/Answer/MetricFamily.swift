/// A family of figures: samples of one name. Sources: OpenMetrics 1.0.0; Prometheus, text-based format 0.0.4.
package struct MetricFamily: Equatable, Sendable {
    /// Type of a family.
    package enum Kind: String, Sendable {
        /// A number that grows until the program ends.
        case counter
        case gauge
        /// Facts as labels; the value is 1.
        case info
    }

    /// A value, and the label that distinguishes it from the others of its family.
    package struct Sample: Equatable, Sendable {
        /// Nil: the only value of its family.
        let label: (name: String, value: String)?
        /// The number.
        let value: Double

        /// A sample, by its parts.
        package init(_ value: Double, _ label: (name: String, value: String)? = nil) {
            self.value = value
            self.label = label
        }

        package static func == (one: Sample, other: Sample) -> Bool {
            one.value == other.value && one.label?.name == other.label?.name && one.label?.value == other.label?.value
        }
    }

    /// The name without the ending of its kind, with its unit at the end.
    let name: String
    let kind: Kind
    /// The unit, such as `seconds`; nil: none.
    let unit: String?
    /// One sentence.
    let help: String
    let samples: [Sample]

    /// A family, by its parts.
    package init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.samples = samples
    }

    /// The text of families. Those without samples are left out.
    package static func text(_ families: [MetricFamily], _ format: MetricsFormat) -> [UInt8] {
        var text = families.filter { !$0.samples.isEmpty }.map { $0.text(format) }.joined()
        switch format {
        case .openMetrics: text += "# EOF\n"
        case .plain: break
        }
        return Array(text.utf8)
    }

    private var ending: String {
        switch kind {
        case .counter: "_total"
        case .gauge: ""
        case .info: "_info"
        }
    }

    private func text(_ format: MetricsFormat) -> String {
        var lines: [String] = []
        switch format {
        case .openMetrics:
            lines.append("# TYPE \(name) \(kind.rawValue)")
            if let unit { lines.append("# UNIT \(name) \(unit)") }
            lines.append("# HELP \(name) \(Self.escaped(help, quotes: true))")
        case .plain:
            // This format has no facts, and its names include the ending.
            let kind = kind == .info ? Kind.gauge : kind
            lines.append("# HELP \(name)\(ending) \(Self.escaped(help, quotes: false))")
            lines.append("# TYPE \(name)\(ending) \(kind.rawValue)")
        }
        for sample in samples {
            let label = sample.label.map { "{\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"}" } ?? ""
            lines.append("\(name)\(ending)\(label) \(Self.number(sample.value))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A number in digits, without a fraction if it is whole.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? String(value)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            case _: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

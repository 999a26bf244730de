/// The text formats of figures.
package enum MetricsFormat: CaseIterable, Sendable {
    /// OpenMetrics 1.0.0.
    case openMetrics
    /// The older text of Prometheus, 0.0.4.
    case plain

    /// The value of `Content-Type`.
    package var contentType: String {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .plain: "text/plain; version=0.0.4; charset=utf-8"
        }
    }

    private var type: String {
        switch self {
        case .openMetrics: "application/openmetrics-text"
        case .plain: "text/plain"
        }
    }

    /// The format that a request prefers (RFC 9110, section 12.5.1). OpenMetrics, unless the request prefers plain text to it.
    package init(_ head: RequestHead) {
        let ranges = head.elements("accept").map(Self.range)
        let (open, plain) = (Self.openMetrics.quality(ranges), Self.plain.quality(ranges))
        self = plain > open ? .plain : .openMetrics
    }

    /// The quality of a format: that of the range that names it most exactly. No range: 0.
    private func quality(_ ranges: [(type: String, quality: Double)]) -> Double {
        let group = type.prefix { $0 != "/" } + "/*"
        for name in [type, String(group), "*/*"] {
            let named = ranges.filter { $0.type == name }
            if let best = named.map(\.quality).max() { return best }
        }
        return 0
    }

    /// Reads `text/plain;version=0.0.4;q=0.5`. A quality that is none counts as 0.
    private static func range(_ text: String) -> (type: String, quality: Double) {
        let parts = text.split(separator: ";").map(RequestHead.trimmed)
        var quality = 1.0
        for part in parts.dropFirst() where part.hasPrefix("q=") {
            let value = Double(part.dropFirst(2)) ?? 0
            quality = (0...1).contains(value) ? value : 0
        }
        return (parts.first ?? "", quality)
    }
}

package import LinuxSystem

/// Delays of outputs behind the sound server, by the outputs' names: delays of clients, and delays of the
/// configuration.
@PlayerLoop package final class OutputDelays {
    /// Valid delays in seconds.
    package nonisolated static let range = 0.0...10.0
    /// Maximum number of outputs with a delay that a client set.
    package nonisolated static let limit = 256

    /// Delays that clients set, in seconds; they override the configuration.
    package private(set) var kept: [String: Double] = [:]
    private var configured: [String: Double] = [:]

    /// No output has a delay.
    package nonisolated init() {}

    /// Delay of an output in seconds.
    package func delay(of name: String) -> Double { kept[name] ?? configured[name] ?? 0 }

    /// Sets the delay of an output in seconds. False: too many outputs have one.
    package func set(_ delay: Double, of name: String) -> Bool {
        guard kept[name] != nil || kept.count < Self.limit else { return false }
        kept[name] = delay
        return true
    }

    /// Restores the delays of clients from an earlier run.
    package func restore(_ delays: [String: Double]) { kept = delays }

    /// Sets the delays of the configuration in seconds.
    package func configure(_ delays: [String: Double]) { configured = delays }
}

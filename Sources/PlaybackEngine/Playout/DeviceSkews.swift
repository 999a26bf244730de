package import LinuxSystem

/// Skew of a device: its rate relative to CLOCK_MONOTONIC, minus 1.
package struct KnownSkew: Equatable, Sendable {
    /// Excess rate, 0.0001 for 100 ppm.
    package let skew: Double
    /// Standard deviation of `skew`.
    package let deviation: Double

    /// A skew with its uncertainty.
    package init(_ skew: Double, deviation: Double) {
        self.skew = skew
        self.deviation = deviation
    }

    /// True if the two may be of one device: they differ by at most three standard deviations.
    func agrees(with other: KnownSkew) -> Bool {
        abs(skew - other.skew) <= 3 * (deviation * deviation + other.deviation * other.deviation).squareRoot()
    }

    /// Both together, each by its certainty.
    func combined(with other: KnownSkew) -> KnownSkew {
        let (own, others) = (1 / (deviation * deviation), 1 / (other.deviation * other.deviation))
        return KnownSkew(
            (skew * own + other.skew * others) / (own + others), deviation: (1 / (own + others)).squareRoot())
    }

    /// The same with additional uncertainty.
    func loosened(by more: Double) -> KnownSkew {
        KnownSkew(skew, deviation: (deviation * deviation + more * more).squareRoot())
    }
}

/// Skews of devices as this run and earlier ones measured them, by the identities of the devices (`OutputDevice.clock`). Of all
/// sessions.
@PlayerLoop package final class DeviceSkews {
    /// A skew that was measured.
    package struct Kept: Equatable, Sendable {
        /// The skew as it was measured.
        package let known: KnownSkew
        /// Unix time of the measurement in seconds.
        package let time: Double

        /// A skew, measured at this Unix time in seconds.
        package init(_ known: KnownSkew, at time: Double) {
            self.known = known
            self.time = time
        }

        /// True if the values are plausible: a saved value may be damaged.
        package var isPossible: Bool {
            abs(known.skew) <= DeviceClock.largestSkew && known.deviation > 0 && known.deviation < DeviceSkews.largest
                && time.isFinite
        }
    }

    /// Maximum number of devices.
    package nonisolated static let limit = 64
    /// Maximum length of an identity in bytes.
    package nonisolated static let longestIdentity = 512
    /// Largest standard deviation of a kept skew.
    private nonisolated static let largest = 1e-5
    /// Uncertainty from the temperature of a quartz, and for each day since the measurement.
    private static let temperature = 1e-6
    private static let ageing = 5e-8
    private static let day = 86_400.0
    /// Seconds after which an equal measurement is kept again.
    private static let renewal = 7 * day

    /// Measured skews by the devices' identities.
    private var kept: [String: Kept] = [:]
    private var keep: (@PlayerLoop ([String: Kept]) -> Void)?

    /// No device is known.
    package nonisolated init() {}

    /// Restores the measurements of earlier runs.
    package func restore(_ kept: [String: Kept]) { self.kept = kept }

    /// Passes all skews to `keep` whenever one of them has changed. Only the first observer counts, the main session.
    package func observe(_ keep: @escaping @PlayerLoop ([String: Kept]) -> Void) { self.keep = self.keep ?? keep }

    /// The skew of a device at a Unix time; nil: it was not measured.
    func skew(of identity: String?, at time: Double) -> KnownSkew? {
        guard let found = identity.flatMap({ kept[$0] }) else { return nil }
        // After a change of the wall clock, the time may be before the measurement.
        let days = abs(time - found.time) / Self.day
        return found.known.loosened(by: Self.temperature + Self.ageing * days)
    }

    /// Keeps a measurement at a Unix time, unless the kept one is as good.
    func learn(_ measured: KnownSkew, of identity: String, at time: Double) {
        let new = Kept(measured, at: time)
        guard new.isPossible else { return }
        if let old = kept[identity] {
            let isBetter = measured.deviation < old.known.deviation / 2
            let isOther = abs(measured.skew - old.known.skew) > 3 * (measured.deviation + Self.temperature)
            guard isBetter || isOther || abs(time - old.time) > Self.renewal else { return }
        } else if kept.count >= Self.limit, let oldest = kept.min(by: { $0.value.time < $1.value.time })?.key {
            kept[oldest] = nil
        }
        kept[identity] = new
        keep?(kept)
    }
}

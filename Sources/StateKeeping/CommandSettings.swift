import NowPlaying
import PlaybackEngine

/// Settings of clients that outlive their connections: those of commands, and the delays of outputs; and the
/// measured skews of devices.
struct CommandSettings: Equatable, Sendable {
    var settings: [RemoteCommand: CommandCentre.Setting] = [:]
    /// Delays of outputs in seconds, by their names.
    var delays: [String: Double] = [:]
    /// Skews of devices, by the identities of their clocks.
    var skews: [String: DeviceSkews.Kept] = [:]

    /// These settings; all other commands have their defaults.
    init(
        _ settings: [RemoteCommand: CommandCentre.Setting] = [:], delays: [String: Double] = [:],
        skews: [String: DeviceSkews.Kept] = [:]
    ) {
        self.skews = skews
        self.settings = settings
        self.delays = delays
    }

    /// The settings in these bytes; unknown commands are left out.
    init(_ bytes: UnsafeRawBufferPointer) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        for _ in 0..<(try reader.count(upTo: bytes.count)) {
            let name = try reader.text()
            let flags = try reader.byte()
            var setting = CommandCentre.Setting()
            if flags & 1 != 0 { setting.isEnabled = flags & 2 != 0 }
            if flags & 4 != 0 { setting.reason = try reader.text() }
            if flags & 8 != 0 { setting.preferredIntervals = try Self.intervals(&reader) }
            if flags & 16 != 0 { setting.supportedPlaybackRates = try Self.rates(&reader) }
            if let command = RemoteCommand(rawValue: name) { settings[command] = setting }
        }
        // Earlier versions wrote no delays.
        guard reader.remaining > 0 else { return }
        for _ in 0..<(try reader.count(upTo: OutputDelays.limit)) {
            let name = try reader.text()
            let delay = try reader.double()
            if OutputDelays.range.contains(delay) { delays[name] = delay }
        }
        guard reader.remaining > 0 else { return }
        for _ in 0..<(try reader.count(upTo: DeviceSkews.limit)) {
            let identity = try reader.text()
            let known = KnownSkew(try reader.double(), deviation: try reader.double())
            let skew = DeviceSkews.Kept(known, at: try reader.double())
            if skew.isPossible { skews[identity] = skew }
        }
    }

    /// The settings as bytes.
    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.number(settings.count)
        for (command, setting) in settings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.text(command.rawValue)
            var flags: UInt8 = 0
            if let isEnabled = setting.isEnabled { flags |= isEnabled ? 3 : 1 }
            if setting.reason != nil { flags |= 4 }
            if setting.preferredIntervals != nil { flags |= 8 }
            if setting.supportedPlaybackRates != nil { flags |= 16 }
            writer.byte(flags)
            if let reason = setting.reason { writer.text(reason) }
            for numbers in [setting.preferredIntervals, setting.supportedPlaybackRates] {
                guard let numbers else { continue }
                writer.number(numbers.count)
                for number in numbers { writer.double(number) }
            }
        }
        guard !delays.isEmpty || !skews.isEmpty else { return writer.bytes }
        writer.number(delays.count)
        for (name, delay) in delays.sorted(by: { $0.key < $1.key }) {
            writer.text(name)
            writer.double(delay)
        }
        guard !skews.isEmpty else { return writer.bytes }
        writer.number(skews.count)
        for (identity, skew) in skews.sorted(by: { $0.key < $1.key }) {
            writer.text(identity)
            for number in [skew.known.skew, skew.known.deviation, skew.time] { writer.double(number) }
        }
        return writer.bytes
    }

    /// Intervals within the present limits, in seconds; nil: none is.
    private static func intervals(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> [Double]? {
        let intervals = try numbers(&reader).map(TimeLimit.bounded).filter { $0 > 0 }
        return intervals.isEmpty ? nil : intervals
    }

    /// Rates within the present limits; nil: none is.
    private static func rates(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> [Double]? {
        let rates = try numbers(&reader).filter(RateRules.range.contains)
        return rates.isEmpty ? nil : rates
    }

    private static func numbers(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> [Double] {
        var numbers: [Double] = []
        for _ in 0..<(try reader.count(upTo: reader.remaining / 8)) { numbers.append(try reader.double()) }
        return numbers
    }
}

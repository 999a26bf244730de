import ControlProtocol
import NowPlaying
import PlaybackEngine

/// A saved position in a fixed number of bytes. Two slots lie side by side and are written in turn, so that one is
/// always valid. A slot has a version, a length, the number of the write, a checksum, and the position as JSON, which
/// earlier and later versions can read.
enum PositionSlot {
    private static let mark: UInt32 = 0x3153_504e
    private static let headerBytes = 24
    /// Play count of an item, at most: counting continues from the saved number.
    private static let maximumPlayCount: Int64 = 1 << 40
    /// Revision of the queue, at most: counting continues from the saved number.
    private static let maximumRevision: Int64 = 1 << 52
    /// Bytes of a slot.
    static let byteCount = 1024

    /// Encoded position; nil: it does not fit.
    static func encode(_ position: SavedPosition, number: UInt64) -> [UInt8]? {
        var json = JSONWriter()
        json.beginObject()
        json.member("wish", position.wish.rawValue)
        json.member("item", position.item.map { Int($0.number) })
        json.member("elapsed", position.elapsed)
        json.member("play", position.playCount)
        json.member("rate", position.rate)
        json.member("revision", position.revision)
        json.member("volume", position.volume)
        json.member("muted", position.muted)
        for mode in position.modes.words { json.member(mode.name, mode.word) }
        if let loudness = position.loudness {
            json.member("loudness", loudness.mode.rawValue)
            json.member("preamp", loudness.preamp)
        }
        if position.crossfade.seconds > 0 { json.member("crossfade", position.crossfade.seconds) }
        if position.fades.fadeIn > 0 { json.member("fadeIn", position.fades.fadeIn) }
        if position.fades.fadeOut > 0 { json.member("fadeOut", position.fades.fadeOut) }
        json.endObject()
        guard json.bytes.count <= byteCount - headerBytes else { return nil }
        var writer = ByteWriter()
        writer.reserve(byteCount)
        writer.fixed(mark)
        writer.fixed(UInt32(json.bytes.count))
        writer.fixed(number)
        writer.fixed(json.bytes.withUnsafeBytes { Checksum.of($0, seed: number) })
        writer.append(json.bytes)
        return writer.bytes
    }

    /// True if a later version of the daemon wrote these bytes.
    static func isNewer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(bytes)
        guard let mark: UInt32 = try? reader.fixed() else { return false }
        // The last of the four characters is the version.
        return mark & 0xff_ffff == self.mark & 0xff_ffff && mark > self.mark
    }

    /// Decoded position and its number; nil: the slot is invalid.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> (position: SavedPosition, number: UInt64)? {
        var reader = ByteReader(bytes)
        do throws(ByteReader.Malformed) {
            let mark: UInt32 = try reader.fixed()
            let length: UInt32 = try reader.fixed()
            let number: UInt64 = try reader.fixed()
            let sum: UInt64 = try reader.fixed()
            guard mark == self.mark else { return nil }
            let json = try reader.raw(Int(length))
            guard sum == Checksum.of(json, seed: number), let value = try? JSONReader.read(json) else { return nil }
            return (position(value), number)
        } catch {
            return nil
        }
    }

    private static func position(_ value: JSONValue) -> SavedPosition {
        var position = SavedPosition()
        position.wish = value["wish"]?.stringValue.flatMap(Transport.Wish.init) ?? .stopped
        position.item = value["item"]?.integerValue.map { ItemID($0) }
        position.elapsed = TimeLimit.bounded(value["elapsed"]?.doubleValue ?? 0)
        position.playCount = Int(max(0, min(value["play"]?.integerValue ?? 0, maximumPlayCount)))
        position.revision = Int(max(0, min(value["revision"]?.integerValue ?? 0, maximumRevision)))
        position.rate = value["rate"]?.doubleValue.flatMap { RateRules.range.contains($0) ? $0 : nil }
        position.volume = max(0, min(1, value["volume"]?.doubleValue ?? 1))
        position.muted = value["muted"]?.boolValue ?? false
        for command in RemoteCommand.modes {
            guard let key = command.mode?.key, let word = value[key]?.stringValue else { continue }
            if let mode = PlayMode(command, word) { position.modes.set(mode) }
        }
        if let mode = value["loudness"]?.stringValue.flatMap(LoudnessMode.init) {
            let preamp = max(-30, min(30, value["preamp"]?.doubleValue ?? 0))
            position.loudness = LoudnessSettings(mode: mode, preamp: preamp)
        }
        let seconds = value["crossfade"]?.doubleValue ?? 0
        position.crossfade = CrossfadeSettings(seconds: max(0, min(CrossfadeSettings.longest, seconds)))
        let fades = ["fadeIn", "fadeOut"].map { max(0, min(FadeSettings.longest, value[$0]?.doubleValue ?? 0)) }
        position.fades = FadeSettings(fadeIn: fades[0], fadeOut: fades[1])
        return position
    }
}

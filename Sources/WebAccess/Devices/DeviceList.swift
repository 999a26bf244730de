import ControlProtocol

/// The paired devices.
struct DeviceList: Equatable, Sendable {
    /// In the order of their pairing.
    private(set) var devices: [Device]

    /// Maximum number of devices.
    static let limit = 100

    /// These devices.
    init(_ devices: [Device] = []) { self.devices = devices }

    var isFull: Bool { devices.count >= Self.limit }

    /// The device of this token; nil: the token is unknown. The time depends only on the number of devices.
    func device(for token: String) -> Device? {
        let digest = Array(DeviceToken.digest(token).utf8)
        var found: Device?
        for device in devices where SecretText.isEqual(Array(device.digest.utf8), digest) { found = device }
        return found
    }

    /// The device whose proofs have this public name; nil: there is none.
    func device(named name: String) -> Device? { devices.first { $0.keys.name == name } }

    /// Adds a device and returns it.
    mutating func add(
        _ name: String, _ role: Role, _ token: DeviceToken, wall: Double, _ generator: inout some RandomNumberGenerator
    ) -> Device {
        var id: String
        repeat {
            id = withUnsafeBytes(of: generator.next() as UInt64) { DeviceToken.hexadecimal(Array($0)) }
        } while devices.contains { $0.id == id }
        let device = Device(
            id: id, name: name, role: role, paired: wall, lastUsed: wall, digest: DeviceToken.digest(token.text))
        devices.append(device)
        return device
    }

    /// Removes a device; nil: there is none of this id.
    mutating func remove(_ id: String) -> Device? {
        devices.firstIndex { $0.id == id }.map { devices.remove(at: $0) }
    }

    /// Records the use of a device, in Unix time.
    mutating func note(_ id: String, usedAt wall: Double) {
        guard let index = devices.firstIndex(where: { $0.id == id }) else { return }
        devices[index].lastUsed = max(devices[index].lastUsed, wall)
    }

    // MARK: The file

    private static let version: Int64 = 1

    /// The bytes of the file.
    var text: String {
        JSONWriter.text(["version": .integer(Self.version), "devices": .array(devices.map(\.record))]) + "\n"
    }

    /// The devices of a file; nil: it is damaged, or of a later version.
    init?(file: [UInt8]) {
        guard let value = try? JSONReader.read(file), value["version"]?.integerValue == Self.version,
            let records = value["devices"]?.arrayValue, records.count <= Self.limit
        else { return nil }
        let devices = records.compactMap(Device.init(record:))
        guard devices.count == records.count, Set(devices.map(\.id)).count == devices.count else { return nil }
        self.devices = devices.filter { $0.digest != Device.struckDigest }
    }
}

/// Comparison of secrets.
enum SecretText {
    /// True if both are equal, in a time that depends only on their lengths.
    static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

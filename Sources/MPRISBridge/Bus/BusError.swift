/// Why a call on the bus did not do what it was to do: a name of D-Bus, and words for people.
struct BusError: Error, Equatable, Sendable {
    var name: String
    var message: String

    /// An error by the last part of a standard name.
    init(_ name: Name, _ message: String) {
        self.name = "org.freedesktop.DBus.Error." + name.rawValue
        self.message = message
    }

    /// The standard names that we use. Specification: D-Bus, message bus; dbus-protocol.h.
    enum Name: String {
        case failed = "Failed"
        case accessDenied = "AccessDenied"
        case invalidArguments = "InvalidArgs"
        case notSupported = "NotSupported"
        case fileNotFound = "FileNotFound"
        case limitsExceeded = "LimitsExceeded"
        case unknownMethod = "UnknownMethod"
        case unknownInterface = "UnknownInterface"
        case unknownProperty = "UnknownProperty"
        case propertyReadOnly = "PropertyReadOnly"
    }
}

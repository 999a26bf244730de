/// The error of a failed call on the bus: a D-Bus error name, and a message for people.
struct BusError: Error, Equatable, Sendable {
    var name: String
    var message: String

    /// An error with a standard name.
    init(_ name: Name, _ message: String) {
        self.name = "org.freedesktop.DBus.Error." + name.rawValue
        self.message = message
    }

    /// Last parts of the standard error names in use. Specification: D-Bus, message bus; dbus-protocol.h.
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

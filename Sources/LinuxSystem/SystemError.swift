import Glibc

/// A failed call to the system.
package struct SystemError: Error, Equatable, Sendable {
    /// The number of the error (errno).
    package let code: Int32
    /// The failed operation and its object: `open /a/b`.
    package let operation: String

    /// An error, by its parts; `code` is the present errno unless it is given.
    package init(_ operation: String, code: Int32 = errno) {
        self.code = code
        self.operation = operation
    }

    /// In words for people.
    package var message: String { "\(operation): \(Self.words(code))" }

    /// The system's text for the number of an error.
    package static func words(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        let result = strerror_r(code, &buffer, buffer.count)
        return result == 0
            ? String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            : "error \(code)"
    }
}

/// Members whose values may be missing.
extension JSONWriter {
    /// A member of text; none if there is no text.
    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    /// A member of a number; none if there is no number.
    package mutating func member(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    /// A member of a decimal number; none if there is no number.
    package mutating func member(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        key(name)
        decimalSeconds(value)
    }

    /// A boolean member; none if the value is nil.
    package mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        bool(value)
    }
}

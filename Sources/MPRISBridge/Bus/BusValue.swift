/// A value on the bus, of a type that MPRIS uses.
enum BusValue: Equatable, Sendable {
    case bool(Bool)
    case int32(Int32)
    case int64(Int64)
    case double(Double)
    case string(String)
    /// A valid object path.
    case path(String)
    case strings([String])
    case paths([String])
    case dictionary(BusDictionary)
    case dictionaries([BusDictionary])

    /// The D-Bus signature of its type. Specification: D-Bus, Type System.
    var signature: String {
        switch self {
        case .bool: "b"
        case .int32: "i"
        case .int64: "x"
        case .double: "d"
        case .string: "s"
        case .path: "o"
        case .strings: "as"
        case .paths: "ao"
        case .dictionary: "a{sv}"
        case .dictionaries: "aa{sv}"
        }
    }
}

/// Values by names, in the order in which they were set; the D-Bus type `a{sv}`.
struct BusDictionary: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    /// One name and its value.
    struct Entry: Equatable, Sendable {
        var name: String
        var value: BusValue
    }

    /// No two of them have the same name.
    private(set) var entries: [Entry] = []

    /// A dictionary without entries.
    init() {}

    init(dictionaryLiteral elements: (String, BusValue)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// The value of this name. Setting nil removes it.
    subscript(name: String) -> BusValue? {
        get { entries.first { $0.name == name }?.value }
        set {
            let index = entries.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The entries that are missing in `earlier` or have another value there.
    func changes(since earlier: BusDictionary) -> BusDictionary {
        var result = BusDictionary()
        result.entries = entries.filter { earlier[$0.name] != $0.value }
        return result
    }

    var isEmpty: Bool { entries.isEmpty }
}

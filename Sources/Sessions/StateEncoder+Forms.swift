import ControlServer
import NowPlaying

/// States in the forms of their readers.
extension StateEncoder {
    /// The state as JSON text in a form. `encoded`: the state as JSON text in the usual form; nil: it is not made yet.
    func encode(_ state: NowPlayingState, in form: EventForm, from encoded: [UInt8]? = nil) -> [UInt8] {
        let isLocal = state.hasTexts && !form.languages.isEmpty
        let whole = isLocal ? encode(state.localized(in: form.languages)) : encoded ?? encode(state)
        return form.members.isEmpty ? whole : Self.members(form.members, of: whole)
    }

    /// An object with these members of an encoded one alone, in its order.
    static func members(_ names: Set<String>, of object: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [UInt8(ascii: "{")]
        var (start, index, depth, isText) = (1, 1, 0, false)
        while index < object.count {
            switch object[index] {
            case UInt8(ascii: "\\") where isText: index += 1
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: "{") where !isText, UInt8(ascii: "[") where !isText: depth += 1
            case UInt8(ascii: "}") where !isText && depth > 0, UInt8(ascii: "]") where !isText: depth -= 1
            case UInt8(ascii: ",") where !isText && depth == 0, UInt8(ascii: "}") where !isText:
                let member = object[start..<index]
                let name = member.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
                if names.contains(String(decoding: name, as: UTF8.self)) {
                    if result.count > 1 { result.append(UInt8(ascii: ",")) }
                    result += member
                }
                start = index + 1
            default: break
            }
            index += 1
        }
        result.append(UInt8(ascii: "}"))
        return result
    }
}

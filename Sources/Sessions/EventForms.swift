import ControlServer
import LinuxSystem
import NowPlaying

/// The forms in which subscribers get states: one object for each choice of languages and fields, while a subscriber has it.
@PlayerLoop final class EventForms {
    private struct Choice: Hashable {
        let languages: [String]
        let members: Set<String>
    }

    private struct Entry {
        weak var form: EventForm?
    }

    private var entries: [Choice: Entry] = [:]

    /// No subscriber has a form of its own.
    init() {}

    /// False if a subscriber may have a form of its own.
    var isEmpty: Bool { entries.isEmpty }

    /// The form of these languages and fields; nil: the usual one. `fields` nil: all.
    func form(_ languages: [String], _ fields: [StateField]?) -> EventForm? {
        guard !languages.isEmpty || fields != nil else { return nil }
        let choice = Choice(
            languages: languages, members: fields.map { Set(($0 + StateField.always).map(\.rawValue)) } ?? [])
        if let known = entries[choice]?.form { return known }
        entries = entries.filter { $0.value.form != nil }
        let form = EventForm(languages: choice.languages, members: choice.members)
        entries[choice] = Entry(form: form)
        return form
    }
}

package import LinuxSystem

/// The form in which readers get events. Readers with the same wishes share one object, so that the server makes and finds
/// their lines by its identity.
package final class EventForm: Sendable {
    /// Languages of the readers, the preferred first; empty: texts as they are.
    package let languages: [String]
    /// Names of the members of the parameters that the readers get; empty: all.
    package let members: Set<String>

    /// A form, by its parts.
    package init(languages: [String] = [], members: Set<String> = []) {
        self.languages = languages
        self.members = members
    }
}

/// The lines of an event for readers of other forms.
@PlayerLoop package protocol FormedLines: AnyObject {
    /// The notification with its line end, in this form.
    func line(in form: EventForm) -> [UInt8]

    /// The same where it stands for several events, the last of which this is.
    func mergedLine(in form: EventForm) -> [UInt8]
}

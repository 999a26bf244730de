/// Text that is safe to show: one line, no control characters, at most 512 characters.
package func cleanText(_ text: String) -> String {
    var clean = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(512) {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
            clean.append(" ")
        default: clean.append(scalar)
        }
    }
    return String(clean)
}

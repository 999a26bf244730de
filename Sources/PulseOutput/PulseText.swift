import AudioCore
import CPulse

/// Text of the server that is safe to show: valid UTF-8, one line, no control characters, at most 512 characters.
func cleanText(_ text: UnsafePointer<CChar>?) -> String {
    guard let text else { return "" }
    // `String(cString:)` replaces invalid UTF-8.
    return cleanText(String(cString: text))
}

/// libpulse's text for its error number.
func pulseErrorText(_ number: Int32) -> String { cleanText(pa_strerror(number)) }

import CPCRE2

/// A pattern of PCRE, for one thread at a time. Its bounds hold for every pattern and every text:
///
/// - PCRE calls a function of ours before each item of the pattern, which looks at the budget of time. Its own count of steps
///   begins anew at each place of the text, and a step can pass over all of the text.
/// - Groups are captured only if the pattern refers to them, and the memory of a step is limited: PCRE copies the captures
///   with each step.
/// - The memory of a comparison is limited, and freed with `Matching`.
final class RegularExpression {
    private let code: OpaquePointer

    /// Maximum bytes of a pattern.
    static let maximumLength = 1024
    /// Maximum bytes of a step: some 50 captures.
    private static let maximumFrame = 1024
    /// Maximum KiB of memory of one comparison.
    private static let maximumHeap: UInt32 = 1024
    /// Maximum steps of one comparison from one place of the text: some patterns take practically unlimited time.
    private static let maximumSteps: UInt32 = 10_000

    /// Error of PCRE for a reference to a group that is not captured.
    private static let missingGroup: Int32 = 115

    /// A pattern; nil: the text is not a valid pattern, or it is beyond a limit.
    init?(_ pattern: String, foldsCase: Bool) {
        let bytes = Array(pattern.utf8)
        guard bytes.count <= Self.maximumLength else { return nil }
        let plain = UInt32(PCRE2_UTF) | UInt32(PCRE2_NO_UTF_CHECK) | UInt32(PCRE2_AUTO_CALLOUT)
        let options = plain | (foldsCase ? UInt32(PCRE2_CASELESS) : 0)
        var error: Int32 = 0
        var offset = 0
        var made = pcre2_compile_8(bytes, bytes.count, options | UInt32(PCRE2_NO_AUTO_CAPTURE), &error, &offset, nil)
        if made == nil, error == Self.missingGroup {
            made = pcre2_compile_8(bytes, bytes.count, options, &error, &offset, nil)
        }
        guard let made else { return nil }
        var frame = 0
        guard pcre2_pattern_info_8(made, UInt32(PCRE2_INFO_FRAMESIZE), &frame) == 0, frame <= Self.maximumFrame else {
            pcre2_code_free_8(made)
            return nil
        }
        code = made
    }

    deinit { pcre2_code_free_8(code) }

    /// Result of a comparison.
    enum Result: Equatable {
        /// True if a part of the text matches.
        case found(Bool)
        /// The comparison reached a limit of steps, memory or time.
        case tooComplex
    }

    /// The memory of comparisons, and their budget of time.
    final class Matching {
        fileprivate let data: OpaquePointer
        fileprivate let context: OpaquePointer
        private let budget: ProcessorBudget

        /// Memory of comparisons with this budget; nil: there is none.
        init?(_ budget: ProcessorBudget) {
            guard let data = pcre2_match_data_create_8(1, nil) else { return nil }
            guard let context = pcre2_match_context_create_8(nil) else {
                pcre2_match_data_free_8(data)
                return nil
            }
            self.data = data
            self.context = context
            self.budget = budget
            pcre2_set_match_limit_8(context, RegularExpression.maximumSteps)
            pcre2_set_depth_limit_8(context, RegularExpression.maximumSteps)
            pcre2_set_heap_limit_8(context, RegularExpression.maximumHeap)
            pcre2_set_callout_8(
                context,
                { _, budget in
                    guard let budget else { return PCRE2_ERROR_CALLOUT }
                    let isSpent = Unmanaged<ProcessorBudget>.fromOpaque(budget).takeUnretainedValue().isSpent()
                    return isSpent ? PCRE2_ERROR_CALLOUT : 0
                }, Unmanaged.passUnretained(budget).toOpaque())
        }

        deinit {
            pcre2_match_context_free_8(context)
            pcre2_match_data_free_8(data)
        }
    }

    /// Compares a text.
    func match(_ text: String, _ matching: Matching) -> Result {
        var text = text
        let result = text.withUTF8 { bytes in
            pcre2_match_8(
                code, bytes.baseAddress, bytes.count, 0, UInt32(PCRE2_NO_UTF_CHECK), matching.data, matching.context)
        }
        switch result {
        case 0...: return .found(true)
        case PCRE2_ERROR_NOMATCH: return .found(false)
        case _: return .tooComplex
        }
    }
}

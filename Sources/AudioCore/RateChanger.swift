/// Makes frames faster or slower without changing their pitch: one item, from one position on. Used on one thread.
///
/// Contract: output frame n has the sound of the item n × rate frames after its beginning, within 30 ms at any instant
/// and 2 ms in the mean over 10 s. N frames of input give round(N ÷ rate) frames of output.
package protocol RateChanger: AnyObject {
    /// Takes whole frames. It may hold up to 200 ms of frames beyond those that `read` has returned.
    func write(_ frames: UnsafeRawBufferPointer)
    /// Ends the input: `read` then delivers the rest.
    func finish()
    /// Writes whole frames into `buffer` and returns their number; 0: more input is needed, or all was read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int
}

/// Makes a rate changer for frames of this format. Throws, with text for people, if there is none.
package typealias RateChangerMaker =
    @Sendable (_ format: AudioFormat, _ rate: Double) throws(DecodingError) -> any RateChanger

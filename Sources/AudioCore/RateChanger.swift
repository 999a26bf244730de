/// Makes frames faster or slower without changing their pitch: one item, from one position on. Used on one thread.
///
/// Contract: the frame number n that comes out is the sound of the item n × rate frames after its beginning, within 30 ms
/// at any instant and 2 ms in the mean over 10 s. Of N frames in, round(N ÷ rate) come out.
package protocol RateChanger: AnyObject {
    /// Takes whole frames. Never more than `read` has been asked for is kept but for 200 ms.
    func write(_ frames: UnsafeRawBufferPointer)
    /// Nothing follows: the rest may be read.
    func finish()
    /// Writes whole frames into `buffer` and says how many; 0: more must be written first, or all was read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int
}

/// Makes a rate changer for frames of this format. Throws, in words for people, where there can be none.
package typealias RateChangerMaker =
    @Sendable (_ format: AudioFormat, _ rate: Double) throws(DecodingError) -> any RateChanger

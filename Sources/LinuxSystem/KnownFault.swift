/// A fault that the log names by a number of its own, so that journalctl(1) can explain it. The raw value is the MESSAGE_ID of
/// systemd.journal-fields(7); `etc/systemd/nowplayingd.catalog` has the explanation of each. A number never changes its meaning.
package enum KnownFault: String, Sendable, CaseIterable {
    case itemFailed = "1c6e4084654b48ca834ad4cdc49c0ad9"
    case mediaAway = "15eebb41bf694424912572563a033e73"
    case streamLost = "973f1636a4a2454ca30bd8d1c9137cfc"
    case outputFailed = "b2edebdbd1774720b8eea42e311266f7"
    case soundLibraryMissing = "3dc93a6a81e84a6a8aa5a3f731a84818"
    case restAfterCrashes = "7a148c25493245989cf26da0b114831f"
    case stateNotSaved = "83688c2f0e6645d993ce938f7fe01245"
    case stateDamaged = "71407809a9ad4bcb9aee7cabdd9a08ab"
    case stateInMemory = "38400c5917d7440fb2ea46023b955260"
    case configurationInvalid = "b3b59d22af77410c9e84679e35f73d07"
    case clientRefused = "d1514f1681344ad78c5caf7e4e292603"
    case outOfDescriptors = "93f82cb56b574191a799b8c64dadb966"
    case cannotListen = "a23aba80139f4bfa8a2a77c436fec946"
    case wrongGuess = "95664204a6e946d5a7fdcc30f379a2ff"
    case folderSilent = "3c32d3a9da4744059d4ccccaf1b5d321"
    case scanFailed = "a1a94f2ba7ce447fab74a61cfb7f76f1"
    case databaseFailed = "6e7a4cbc70f14d2fb9ca6f0ef0179ed3"
    case hookFailed = "0e2ea96144954b66bfaf1b920b894620"
    case brokerAway = "cea9d22bc36241faadad852ba06bbae8"
}

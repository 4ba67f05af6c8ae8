//! Enums that are chosen by words.

/// An enum with the words that choose each of its values. `ALL[i]` is what `CHOICES[i]` chooses,
/// so that a second word for a value is a second line.
#[macro_export]
macro_rules! choices {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $( $(#[$default:meta])? $value:ident = $help:literal: $($word:literal)|+ ),+ $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $( #[doc = $help] $(#[$default])? $value ),+ }

        impl $name {
            /// The words, in the order of the help.
            pub const CHOICES: &'static [$crate::Choice] = &[
                $($( $crate::Choice { word: $word, help: $help } ),+),+
            ];
            /// The value that each word of [`Self::CHOICES`] chooses.
            pub const ALL: &'static [$name] = &[ $($( { let _ = $word; $name::$value } ),+),+ ];

            /// The first word.
            pub fn word(self) -> &'static str {
                let index = Self::ALL.iter().position(|value| *value == self);
                index.map_or("", |index| Self::CHOICES[index].word)
            }
        }
    };
}

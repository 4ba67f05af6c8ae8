//! Screenshots with fewer colours: a page has few, and shades of its letters.

use std::collections::HashMap;
use std::io::Cursor;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder};

use crate::Outcome;

type Rgb = [u8; 3];

/// The same PNG with the 256 commonest of its colours, each other one as the nearest of these.
pub fn with_palette(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let mut reader = Decoder::new(Cursor::new(bytes)).read_info()?;
    let mut raw = vec![0; reader.output_buffer_size().ok_or("the screenshot is too large")?];
    let frame = reader.next_frame(&mut raw)?;
    let step = match (frame.color_type, frame.bit_depth) {
        (ColorType::Rgb, BitDepth::Eight) => 3,
        (ColorType::Rgba, BitDepth::Eight) => 4,
        other => return Err(format!("a screenshot of pixels of {other:?}").into()),
    };
    let pixels = raw[..frame.buffer_size()].chunks_exact(step).map(|at| [at[0], at[1], at[2]]);
    let palette = palette(pixels.clone());
    let mut places: HashMap<Rgb, u8> = HashMap::new();
    let nearest = |pixel: Rgb| *places.entry(pixel).or_insert_with(|| nearest(&palette, pixel));
    let places: Vec<u8> = pixels.map(nearest).collect();

    let mut small = Vec::new();
    let mut encoder = Encoder::new(&mut small, frame.width, frame.height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_palette(palette.concat());
    encoder.write_header()?.write_image_data(&places)?;
    Ok(small)
}

/// The commonest colours, at most 256.
fn palette(pixels: impl Iterator<Item = Rgb>) -> Vec<Rgb> {
    let mut counts: HashMap<Rgb, usize> = HashMap::new();
    for pixel in pixels {
        *counts.entry(pixel).or_default() += 1;
    }
    let mut colors: Vec<(usize, Rgb)> = counts.into_iter().map(|(rgb, n)| (n, rgb)).collect();
    colors.sort_unstable_by(|a, b| b.cmp(a));
    colors.into_iter().take(256).map(|(_, rgb)| rgb).collect()
}

/// Place of the nearest colour of the palette.
fn nearest(palette: &[Rgb], pixel: Rgb) -> u8 {
    let distance = |of: &Rgb| -> u32 {
        of.iter().zip(pixel).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let place = (0..palette.len()).min_by_key(|&place| distance(&palette[place]));
    place.unwrap_or(0) as u8
}
